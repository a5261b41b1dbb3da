//go:build !unix

package machine

import "io/fs"

// ForeignOwner returns "": on this system each user has separate directories for such files.
func ForeignOwner(fs.FileInfo) string { return "" }
