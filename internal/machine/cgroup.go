package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file makes control groups of Linux, which limit the memory of processes and end them
// together.

// ErrNoController is the error of a limit whose controller is not enabled in the control group.
var ErrNoController = errors.New("the controller is not available in this control group")

// Cgroup is a control group (version 2), a child of this process's group. To start a process in it, set
// SysProcAttr.CgroupFD to FD.
//
// Cgroup never enables a controller, because that would change the parent group, which other
// processes use.
type Cgroup struct {
	dir  string
	file *os.File // the opened directory, or nil
}

// NewCgroup makes a control group. The name of its directory is CgroupName(name).
func NewCgroup(name string) (*Cgroup, error) {
	current, err := currentGroups()
	if err != nil {
		return nil, fmt.Errorf("control group: %w", err)
	}
	if current.unified.dir == "" {
		return nil, errors.New("control group: version 2 is not mounted")
	}
	dir := filepath.Join(current.unified.dir, CgroupName(name))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("control group: %w", pathErrorCause(err))
	}
	c := &Cgroup{dir: dir}
	if kind, err := os.ReadFile(filepath.Join(dir, "cgroup.type")); err != nil || string(bytes.TrimSpace(kind)) != "domain" {
		return nil, errors.Join(fmt.Errorf("control group: it could not hold processes (%s)", bytes.TrimSpace(kind)), c.Remove())
	}
	if c.file, err = os.Open(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("control group: %w", pathErrorCause(err)), c.Remove())
	}
	return c, nil
}

// FD returns the descriptor to start processes with. It is valid until Remove.
func (c *Cgroup) FD() int { return int(c.file.Fd()) }

// CPU returns the user and system time of all processes that ever ran in the group. ok is false if it
// is unknown.
func (c *Cgroup) CPU() (used time.Duration, ok bool) {
	stat, err := readStat(filepath.Join(c.dir, "cpu.stat"))
	us, ok := stat["usage_usec"]
	return time.Duration(us) * time.Microsecond, err == nil && ok
}

// MemoryMax limits the memory of the group. If its processes use more than limit bytes together, the
// kernel kills all of them. MemoryMax returns ErrNoController if the memory controller is not
// enabled.
func (c *Cgroup) MemoryMax(limit int64) error {
	err := c.writeFile("memory.max", strconv.FormatInt(limit, 10))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return ErrNoController
	}
	if err != nil {
		return fmt.Errorf("control group: %w", pathErrorCause(err))
	}
	// These may fail. Without the first, the group swaps before it reaches the limit. Without the
	// second, the kernel kills only one process of the group.
	_ = c.writeFile("memory.swap.max", "0")
	_ = c.writeFile("memory.oom.group", "1")
	return nil
}

// OutOfMemory reports whether the kernel has killed a process of the group for its memory.
func (c *Cgroup) OutOfMemory() bool {
	stat, err := readStat(filepath.Join(c.dir, "memory.events"))
	return err == nil && stat["oom_kill"] > 0
}

// Procs lists the processes in the group.
func (c *Cgroup) Procs() ([]int, error) {
	b, err := os.ReadFile(filepath.Join(c.dir, "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("control group: %w", pathErrorCause(err))
	}
	var pids []int
	for _, f := range bytes.Fields(b) {
		if pid, err := strconv.Atoi(string(f)); err == nil && pid > 0 { // 0 is a process of another pid namespace
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Kill kills all processes in the group. Kernels before 5.14 cannot do that in one call, so Kill kills
// one process after another. It may then miss a process that is just forked: call it again.
func (c *Cgroup) Kill() error {
	err := c.writeFile(killFile, "1")
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pids, err := c.Procs()
	for _, pid := range pids {
		c.killMember(pid)
	}
	return err
}

// killFile is the control file by which Linux kills a group, from 5.14 on.
const killFile = "cgroup.kill"

// killMember kills one process of the group. It opens the process before it checks that pid is in the
// group. So it never kills a later process with the same pid.
func (c *Cgroup) killMember(pid int) {
	p, err := os.FindProcess(pid)
	if err != nil || pid == os.Getpid() {
		return
	}
	defer p.Release()
	if pids, err := c.Procs(); err == nil && slices.Contains(pids, pid) {
		_ = p.Kill()
	}
}

// Remove removes the group, which must have no processes. It tries for a second, because the kernel
// notices late that a group is empty.
func (c *Cgroup) Remove() error {
	if c.file != nil {
		_ = c.file.Close()
	}
	return removeGroup(c.dir, time.Second)
}

func (c *Cgroup) writeFile(file, value string) error {
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_WRONLY, 0) // never create
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// RemoveCgroups kills and removes the child groups of this process's group whose names begin with
// prefix. Killed runs have left them.
func RemoveCgroups(prefix string) {
	current, err := currentGroups()
	if err != nil || current.unified.dir == "" || prefix == "" {
		return
	}
	entries, err := os.ReadDir(current.unified.dir)
	if err != nil {
		return
	}
	var killed []Cgroup
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), CgroupName(prefix)) {
			c := Cgroup{dir: filepath.Join(current.unified.dir, e.Name())}
			_ = c.Kill()
			killed = append(killed, c)
		}
	}
	for _, c := range killed {
		_ = c.Remove()
	}
}

// CgroupName returns the name of a group's directory. Characters of name other than ASCII letters,
// digits, "-", "_" and "." become "_".
func CgroupName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
}

// removeGroup removes the directory of a group. It tries until wait has passed.
func removeGroup(dir string, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		err := os.Remove(dir) // the control files in it do not matter
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("control group: %w", pathErrorCause(err))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pathErrorCause removes operation and path from an error.
func pathErrorCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
