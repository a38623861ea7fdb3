//! Puts a job that was read to the end behind the others.

use super::complete::JobList;
use super::reader::Reader;
use crate::dialect::fio::job::asked::FioJob;
use crate::dialect::fio::job::complaint::FioComplaint;

/// Completes a job, unless nothing is run.
pub(in crate::dialect::fio) fn finish(
    reader: &mut Reader<'_>,
    jobs: &mut JobList,
    job: FioJob,
) -> Result<(), FioComplaint> {
    if reader.dry {
        return Ok(());
    }
    let place = job.place.clone();
    let (name, options) = (job.name.clone(), job.options.clone());
    let Reader { own, world, said, told, notes, .. } = reader;
    let added = jobs.add(job, own, world, said, told, notes);
    added.map_err(|fault| {
        // The word that the fault speaks of, where one of the job does.
        let named = options.iter().find(|typed| {
            fault.why.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == typed.name)
        });
        let place = named.map(|typed| typed.place.clone()).or(place);
        let mut complaint = FioComplaint::at(place.as_ref(), fault).after(&reader.said);
        if !name.is_empty() && !complaint.refusal.why.contains(&name) {
            complaint.refusal.why = format!("job {name}: {}", complaint.refusal.why);
        }
        complaint
    })
}
