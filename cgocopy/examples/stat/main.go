//go:build cgo && linux && amd64

// Stat fills a Go struct of this program from the system's struct stat. The Go struct has only the members
// that the program needs.
package main

// #include <stdlib.h>
// #include <sys/stat.h>
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"
)

//go:generate go run ../../cmd/cgocopy bind -build "cgo && linux && amd64" -type "File=struct stat" <sys/stat.h>

// File holds the members of struct stat that this example prints.
type File struct {
	Mode  uint32 `cgocopy:"st_mode"`
	Links uint64 `cgocopy:"st_nlink"`
	Size  int64  `cgocopy:"st_size"`
	Time  Time   `cgocopy:"st_mtim"` // last change of the file's content
}

// Time is a struct timespec.
type Time struct {
	Sec  int64 `cgocopy:"tv_sec"`
	Nsec int64 `cgocopy:"tv_nsec"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes a file with known properties, and prints them as stat reports them.
func run() error {
	dir, err := os.MkdirTemp("", "stat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "five")
	if err := os.WriteFile(path, []byte("5 byt"), 0o640); err != nil {
		return err
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 250)); err != nil {
		return err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var raw C.struct_stat
	if n, err := C.stat(name, &raw); n != 0 {
		return err
	}
	var f File
	if err := f.FromC(unsafe.Pointer(&raw)); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%d bytes, mode %o, %d link, changed %s\n", f.Size, f.Mode, f.Links, time.Unix(f.Time.Sec, f.Time.Nsec).UTC().Format(time.RFC3339Nano))
	return nil
}
