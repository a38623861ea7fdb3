//! How worn a card says it is: the life registers of eMMC 5.0 and of some SD cards.

use super::{Scene, Wear};

/// The registers of the disk with this sysfs folder; `None` where it has none.
pub(super) fn read(scene: &Scene, disk: &str) -> Option<Wear> {
    let line = |name: &str| scene.line(format!("{disk}/device/{name}"));
    let life: Vec<u8> =
        line("life_time")?.split_ascii_whitespace().filter_map(hexadecimal).collect();
    let pre_eol = line("pre_eol_info").as_deref().and_then(hexadecimal);
    // Zero says that the register is not kept.
    let tenths = life.into_iter().filter(|tenths| *tenths > 0).max();
    (tenths.is_some() || pre_eol.is_some_and(|state| state > 0)).then_some(Wear { tenths, pre_eol })
}

fn hexadecimal(word: &str) -> Option<u8> {
    u8::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_both_kinds_of_cells_counts() {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("sys/block/mmcblk0/device");
        std::fs::create_dir_all(&folder).unwrap();
        let scene = Scene::under(tree.path());
        let wear = || read(&scene, "/sys/block/mmcblk0");
        assert_eq!(wear(), None);
        std::fs::write(folder.join("life_time"), "0x02 0x0a\n").unwrap();
        assert_eq!(wear(), Some(Wear { tenths: Some(10), pre_eol: None }));
        std::fs::write(folder.join("pre_eol_info"), "0x02\n").unwrap();
        assert_eq!(wear(), Some(Wear { tenths: Some(10), pre_eol: Some(2) }));
        std::fs::write(folder.join("life_time"), "0x00 0x00\n").unwrap();
        std::fs::write(folder.join("pre_eol_info"), "0x00\n").unwrap();
        assert_eq!(wear(), None);
    }
}
