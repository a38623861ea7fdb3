//! stub
/// stub
pub fn judge(_record: &mut crate::record::Record) {}
