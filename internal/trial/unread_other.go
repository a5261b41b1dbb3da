//go:build !linux

package trial

import "os"

func countUnread(*os.File) int64 { return 0 }
