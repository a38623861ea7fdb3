//! The user and group that the tests run as.

use crate::dialect::bonnie::{BonnieComplaint, BonnieOptions};
use assay_engine::sys::user::{self, User};
use assay_plan::error::Refusal;

/// Becomes the user that the words name, and says so. Root has to say that it wants to stay root.
///
/// # Errors
/// When nobody is called so, or this process may not become that user.
pub fn become_who_is_asked(
    asked: &BonnieOptions,
    said: &mut String,
) -> Result<(), BonnieComplaint> {
    if asked.user.is_none() && asked.group.is_none() {
        if !user::is_root() {
            return Ok(());
        }
        let said = "You must use the \"-u\" switch when running as root.\n".into();
        let refusal = Refusal::new(
            "it runs as root, and no user is named",
            "write -u root to stay root, or name somebody who may write to the folder",
        );
        return Err(BonnieComplaint { said, usage: Some(asked.form), refusal });
    }
    let User { uid, gid } = wanted(asked)?;
    if !asked.quiet {
        said.push_str(&format!("Using uid:{uid}, gid:{gid}.\n"));
    }
    let may_not = |what: &str, number: u32, error: std::io::Error| {
        refused(
            format!("Can't set {what} to {number}."),
            format!("this process may not take the {what} {number}: {error}"),
            "only root may become somebody else",
        )
    };
    user::take_group(gid).map_err(|error| may_not("gid", gid, error))?;
    user::take_user(uid).map_err(|error| may_not("uid", uid, error))
}

fn refused(said: String, why: String, instead: &str) -> BonnieComplaint {
    BonnieComplaint { said: format!("{said}\n"), usage: None, refusal: Refusal::new(why, instead) }
}

/// The numbers of user and group. A group alone goes with the present user; a number that is nobody's
/// has no group but `nogroup`.
fn wanted(asked: &BonnieOptions) -> Result<User, BonnieComplaint> {
    let user = match &asked.user {
        None => user::present(),
        Some(name) => find_user(name)?,
    };
    let gid = match &asked.group {
        None => user.gid,
        Some(name) => find_group(name)?,
    };
    Ok(User { gid, ..user })
}

fn find_user(name: &str) -> Result<User, BonnieComplaint> {
    let found = match name.parse::<u32>() {
        Ok(uid) => match user::numbered(uid) {
            Ok(None) => return Ok(User { uid, gid: find_group("nogroup")? }),
            found => found,
        },
        Err(_) => user::user(name),
    };
    found.ok().flatten().ok_or_else(|| {
        let why = format!("there is no user '{name}'");
        refused(format!("Can't find user {name}"), why, "'getent passwd' lists them")
    })
}

fn find_group(name: &str) -> Result<u32, BonnieComplaint> {
    if let Ok(gid) = name.parse() {
        return Ok(gid);
    }
    user::group(name).ok().flatten().ok_or_else(|| {
        let why = format!("there is no group '{name}'");
        refused(format!("Can't find group {name}"), why, "'getent group' lists them")
    })
}
