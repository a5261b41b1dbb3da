package trial

import "fmt"

// formatSize formats n bytes in the largest unit that they fill, rounded down, e.g. 64 MiB. It uses
// GiB only for multiples of a GiB: 2 GiB, but 2560 MiB.
func formatSize(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
