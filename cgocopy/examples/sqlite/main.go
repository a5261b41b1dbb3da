//go:build cgo && sqlite

// Sqlite lists the file systems that SQLite can use. In C they are a linked list, which one call of FromC
// copies. The example needs SQLite's header and library (on Debian the package libsqlite3-dev). Build it
// with -tags sqlite.
package main

// #cgo pkg-config: sqlite3
// #include <sqlite3.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

//go:generate go run ../../cmd/cgocopy bind -build "cgo && sqlite" -type VFS=sqlite3_vfs <sqlite3.h>

// VFS is a file system of SQLite. Copies follow at most 20 pointers to the next.
type VFS struct {
	Version  int    `cgocopy:"iVersion"`
	FileSize int    `cgocopy:"szOsFile"`   // size of a file handle in bytes
	MaxPath  int    `cgocopy:"mxPathname"` // maximum length of a path in bytes
	Name     string `cgocopy:"zName,max=100,utf8=error"`
	Next     *VFS   `cgocopy:"pNext,depth=20"`
}

func main() {
	if rc := C.sqlite3_initialize(); rc != 0 {
		fmt.Fprintln(os.Stderr, "SQLite does not start:", rc)
		os.Exit(1)
	}
	var first VFS
	if err := first.FromC(unsafe.Pointer(C.sqlite3_vfs_find(nil))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stdout, "%s: version %d, paths up to %d bytes\n", first.Name, first.Version, first.MaxPath)
	more := 0
	for v := first.Next; v != nil; v = v.Next {
		more++
	}
	fmt.Fprintf(os.Stdout, "and %d more\n", more)
}
