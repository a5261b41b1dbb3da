package cli_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/tarebench/tare/lab/journal"
)

// fault is a way in which a file system fails from one operation on.
type fault struct {
	name  string
	err   syscall.Errno
	of    func(op) bool // which operations can fail so; nil: all
	since bool          // that operation and all after it, else it alone
	short bool          // the first write leaves half of its bytes
	kill  bool          // the program is killed in the middle of the operation
}

// op is what is done with a file system.
type op string

// writes reports whether it needs room, changes whether it needs the right to write.
func (o op) writes() bool {
	return o == "write" || o == "create" || o == "mkdir" || o == "link"
}

func (o op) changes() bool {
	return o.writes() || o == "rename" || o == "unlink" || o == "rmdir" || o == "setattr" || o == "open to write"
}

// faults are the ways of a disk to fail that a program goes on after, or not.
func faults() []fault {
	return []fault{
		{name: "EIO", err: syscall.EIO},
		{name: "EIO for good", err: syscall.EIO, since: true},
		{name: "EINTR", err: syscall.EINTR},
		{name: "ENOSPC", err: syscall.ENOSPC, of: op.writes, short: true},
		{name: "full from then on", err: syscall.ENOSPC, of: op.writes, since: true, short: true},
		{name: "read-only from then on", err: syscall.EROFS, of: op.changes, since: true},
		{name: "killed", err: syscall.EIO, short: true, kill: true},
	}
}

// faulty is a directory that is mounted in another place, where the n-th operation
// fails.
type faulty struct {
	fuse.RawFileSystem
	dir     string // what is mounted
	unmount func() // more than once, too

	mu     sync.Mutex
	fault  fault
	at     int  // which operation fails, from 1; 0: none
	count  int  // operations that the fault could be of, so far
	ops    []op // those
	failed op   // the first that failed; empty: none has
	pid    int  // of the process whose operation came last
	synced int  // whole rounds in the journal when it was synced last
}

// mountFaulty mounts dir at path, as long as the test takes.
func mountFaulty(t *testing.T, dir, path string) *faulty {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system of its own")
	}
	root, err := fs.NewLoopbackRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{RawFileSystem: fs.NewNodeFS(root, &fs.Options{}), dir: dir}
	server, err := fuse.NewServer(f, path, &fuse.MountOptions{DirectMountStrict: true, DisableXAttrs: true, FsName: "faulty", Name: "faulty"})
	if err != nil {
		t.Skip("no file system of its own can be mounted here: ", err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		t.Fatal(err)
	}
	f.unmount = sync.OnceFunc(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(f.unmount)
	return f
}

// begin has the at-th operation of the fault's kind fail. Operations are counted
// from here on.
func (f *faulty) begin(fault fault, at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.at, f.count, f.ops, f.failed, f.synced = fault, at, 0, nil, "", 0
}

// end has no operation fail any more.
func (f *faulty) end() (count int, failed op) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = 0
	return f.count, f.failed
}

// trace returns the operations since begin that the fault could be of.
func (f *faulty) trace() []op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// step counts an operation of a process; half: it is done by half before it fails.
func (f *faulty) step(o op, h *fuse.InHeader) (status fuse.Status, half bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.Pid != 0 { // the system reads ahead by itself
		f.pid = int(h.Pid)
	}
	if f.fault.of != nil && !f.fault.of(o) {
		return fuse.OK, false
	}
	f.count++
	f.ops = append(f.ops, o)
	if f.at == 0 || f.count < f.at || f.count > f.at && !f.fault.since {
		return fuse.OK, false
	}
	if f.fault.kill && f.pid != 0 {
		_ = syscall.Kill(f.pid, syscall.SIGKILL)
	}
	half = f.fault.short && o == "write" && f.failed == ""
	if f.failed == "" {
		f.failed = o
	}
	return fuse.Status(f.fault.err), half
}

// does does an operation, unless it is to fail.
func (f *faulty) does(o op, h *fuse.InHeader, do func() fuse.Status) fuse.Status {
	if status, _ := f.step(o, h); !status.Ok() {
		return status
	}
	return do()
}

type cancelled = <-chan struct{}

func (f *faulty) Lookup(c cancelled, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return f.does("lookup", h, func() fuse.Status { return f.RawFileSystem.Lookup(c, h, name, out) })
}

func (f *faulty) GetAttr(c cancelled, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.does("getattr", &in.InHeader, func() fuse.Status { return f.RawFileSystem.GetAttr(c, in, out) })
}

func (f *faulty) SetAttr(c cancelled, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.does("setattr", &in.InHeader, func() fuse.Status { return f.RawFileSystem.SetAttr(c, in, out) })
}

func (f *faulty) Mkdir(c cancelled, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.does("mkdir", &in.InHeader, func() fuse.Status { return f.RawFileSystem.Mkdir(c, in, name, out) })
}

func (f *faulty) Unlink(c cancelled, h *fuse.InHeader, name string) fuse.Status {
	return f.does("unlink", h, func() fuse.Status { return f.RawFileSystem.Unlink(c, h, name) })
}

func (f *faulty) Rmdir(c cancelled, h *fuse.InHeader, name string) fuse.Status {
	return f.does("rmdir", h, func() fuse.Status { return f.RawFileSystem.Rmdir(c, h, name) })
}

func (f *faulty) Rename(c cancelled, in *fuse.RenameIn, from, to string) fuse.Status {
	return f.does("rename", &in.InHeader, func() fuse.Status { return f.RawFileSystem.Rename(c, in, from, to) })
}

func (f *faulty) Link(c cancelled, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.does("link", &in.InHeader, func() fuse.Status { return f.RawFileSystem.Link(c, in, name, out) })
}

func (f *faulty) Create(c cancelled, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return f.does("create", &in.InHeader, func() fuse.Status {
		status := f.RawFileSystem.Create(c, in, name, out)
		out.OpenFlags &^= fuse.FOPEN_PASSTHROUGH // or what is written never comes here
		return status
	})
}

func (f *faulty) Open(c cancelled, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	o := op("open")
	if in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		o = "open to write"
	}
	return f.does(o, &in.InHeader, func() fuse.Status {
		status := f.RawFileSystem.Open(c, in, out)
		out.OpenFlags &^= fuse.FOPEN_PASSTHROUGH
		return status
	})
}

func (f *faulty) Read(c cancelled, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, status fuse.Status) {
	status = f.does("read", &in.InHeader, func() fuse.Status {
		result, status = f.RawFileSystem.Read(c, in, buf)
		return status
	})
	return result, status
}

func (f *faulty) Write(c cancelled, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	status, half := f.step("write", &in.InHeader)
	if half && len(data) > 1 {
		data, status = data[:len(data)/2], fuse.OK
		in.Size = uint32(len(data))
	}
	if !status.Ok() {
		return 0, status
	}
	return f.RawFileSystem.Write(c, in, data)
}

func (f *faulty) Flush(c cancelled, in *fuse.FlushIn) fuse.Status {
	return f.does("close", &in.InHeader, func() fuse.Status { return f.RawFileSystem.Flush(c, in) })
}

func (f *faulty) Fsync(c cancelled, in *fuse.FsyncIn) fuse.Status {
	return f.does("sync", &in.InHeader, func() fuse.Status {
		status := f.RawFileSystem.Fsync(c, in)
		if status.Ok() {
			f.mu.Lock()
			f.synced = max(f.synced, f.rounds())
			f.mu.Unlock()
		}
		return status
	})
}

func (f *faulty) OpenDir(c cancelled, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return f.does("opendir", &in.InHeader, func() fuse.Status { return f.RawFileSystem.OpenDir(c, in, out) })
}

func (f *faulty) ReadDir(c cancelled, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.does("readdir", &in.InHeader, func() fuse.Status { return f.RawFileSystem.ReadDir(c, in, out) })
}

func (f *faulty) ReadDirPlus(c cancelled, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.does("readdir", &in.InHeader, func() fuse.Status { return f.RawFileSystem.ReadDirPlus(c, in, out) })
}

func (f *faulty) FsyncDir(c cancelled, in *fuse.FsyncIn) fuse.Status {
	return f.does("sync of a directory", &in.InHeader, func() fuse.Status { return f.RawFileSystem.FsyncDir(c, in) })
}

// rounds counts the whole rounds of the first run.
func (f *faulty) rounds() int {
	text, err := os.ReadFile(filepath.Join(f.dir, "results", "json", "20260301T120000Z-5", journal.FileName))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	return bytes.Count(text, []byte("\n{\"round\":{"))
}

// tree is what the files hold, by name, without what is only saved to be quicker.
func (f *faulty) tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(f.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), "index") {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, f.dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
