//! How many objects a page of a list holds, so that it takes about as much memory whatever they are.

/// Bytes of a page, once they are no longer compressed.
const BYTES: usize = 2 << 20;
/// Objects of a page as long as nothing is known of their size.
const FIRST: u32 = 500;
/// The least and the most: a request each costs more than the memory, or holds a server up.
const BOUNDS: (u32, u32) = (20, 5_000);

/// The size that fits the objects seen last.
#[derive(Debug, Default)]
pub(super) struct PageSize {
    /// Bytes of an object.
    each: Option<usize>,
}

impl PageSize {
    /// Objects to ask for.
    pub(super) fn objects(&self) -> u32 {
        let fitting = |each: usize| u32::try_from(BYTES / each.max(1)).unwrap_or(u32::MAX);
        self.each.map_or(FIRST, |each| fitting(each).clamp(BOUNDS.0, BOUNDS.1))
    }

    /// So many objects took so many bytes.
    pub(super) fn measured(&mut self, bytes: usize, objects: usize) {
        self.each = bytes.checked_div(objects).or(self.each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_large_objects_is_short_and_one_of_small_objects_long() {
        for (bytes, objects, asked) in
            [(0, 0, FIRST), (4_096_000, 1_000, 512), (1 << 20, 1, 20), (100, 10, 5_000), (2_048, 1, 1_024)]
        {
            let mut size = PageSize::default();
            size.measured(bytes, objects);
            assert_eq!(size.objects(), asked, "{bytes} bytes of {objects}");
            size.measured(30, 0);
            assert_eq!(size.objects(), asked, "an empty page tells nothing");
        }
    }
}
