//go:build !unix

package machine

import "io/fs"

// ForeignOwner returns "": the directories of this system's users are their own.
func ForeignOwner(fs.FileInfo) string { return "" }
