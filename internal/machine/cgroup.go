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

// ErrNoController is the error of a group that cannot set the requested limit.
var ErrNoController = errors.New("the controller is not available in this control group")

// Cgroup is a control group (version 2) of our own, a child of the one this
// process is in. Processes enter it by being started in it: give FD to
// SysProcAttr.CgroupFD.
//
// No controller is ever switched on for it, because that would change the
// group of everybody around us; it has those that were on already.
type Cgroup struct {
	dir  string
	file *os.File
}

// NewCgroup makes a control group. The name becomes a directory name;
// characters that do not belong in one are replaced.
func NewCgroup(name string) (*Cgroup, error) {
	own, err := ownGroups()
	if err != nil {
		return nil, fmt.Errorf("control group: %w", err)
	}
	if own.unified.dir == "" {
		return nil, errors.New("control group: version 2 is not mounted here")
	}
	dir := filepath.Join(own.unified.dir, CgroupName(name))
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

// CPU returns the user and system time of everything that ever ran in the group.
func (c *Cgroup) CPU() (time.Duration, bool) {
	stat, err := readStat(filepath.Join(c.dir, "cpu.stat"))
	us, ok := stat["usage_usec"]
	return time.Duration(us) * time.Microsecond, err == nil && ok
}

// MemoryMax makes the kernel end the entire group when it uses more than limit bytes. It returns
// ErrNoController if the memory controller is off.
func (c *Cgroup) MemoryMax(limit int64) error {
	err := c.writeFile("memory.max", strconv.FormatInt(limit, 10))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return ErrNoController
	}
	if err != nil {
		return fmt.Errorf("control group: %w", pathErrorCause(err))
	}
	// Without these two the limit still holds: it is then met by swapping
	// first, or by ending one process of the group instead of all.
	_ = c.writeFile("memory.swap.max", "0")
	_ = c.writeFile("memory.oom.group", "1")
	return nil
}

// OutOfMemory reports whether the kernel ended something in the group for
// going over its limit.
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
		if pid, err := strconv.Atoi(string(f)); err == nil && pid > 0 { // 0: in another pid namespace
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Kill ends every process in the group: in one call if the kernel can do that (5.14), else one by
// one. It may then miss a process that forks meanwhile, and must be called again.
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

const killFile = "cgroup.kill"

// killMember ends one process. It opens the process before it checks again that it is in the group,
// so that it ends no other process with the same number.
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

// Remove removes the group. It can only be removed empty, and the kernel
// takes a moment to see that it is.
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

// RemoveCgroups kills and removes every child group of our own whose name
// begins with prefix: what a run that was killed has left.
func RemoveCgroups(prefix string) {
	own, err := ownGroups()
	if err != nil || own.unified.dir == "" || prefix == "" {
		return
	}
	entries, err := os.ReadDir(own.unified.dir)
	if err != nil {
		return
	}
	var left []Cgroup
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), CgroupName(prefix)) {
			c := Cgroup{dir: filepath.Join(own.unified.dir, e.Name())}
			_ = c.Kill()
			left = append(left, c)
		}
	}
	for _, c := range left {
		_ = c.Remove()
	}
}

// CgroupName returns the directory name NewCgroup gives to a group called name.
func CgroupName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
}

func removeGroup(dir string, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		err := os.Remove(dir) // files inside are the kernel's and do not count
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("control group: %w", pathErrorCause(err))
		}
	}
}

// pathErrorCause returns the cause of err without the path.
func pathErrorCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
