//! The three directions of fio's data, and a value for each.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FioDirection {
    Read,
    Write,
    Trim,
}

impl FioDirection {
    /// All of them, in the order of fio's lists.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// As it is called in lists and reports: `read`, `write`, `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// A value for each direction: `8k,32k,64k`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> PerDirection<T> {
    /// The value for a direction.
    pub const fn of(&self, direction: FioDirection) -> &T {
        match direction {
            FioDirection::Read => &self.read,
            FioDirection::Write => &self.write,
            FioDirection::Trim => &self.trim,
        }
    }

    /// The place of the value for a direction.
    pub const fn of_mut(&mut self, direction: FioDirection) -> &mut T {
        match direction {
            FioDirection::Read => &mut self.read,
            FioDirection::Write => &mut self.write,
            FioDirection::Trim => &mut self.trim,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.read, &self.write, &self.trim].into_iter()
    }

    /// Another value made of each.
    pub fn map<U>(&self, mut make: impl FnMut(&T) -> U) -> PerDirection<U> {
        PerDirection { read: make(&self.read), write: make(&self.write), trim: make(&self.trim) }
    }
}

impl<T: Clone> PerDirection<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}
