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

// ErrNoController is the error of a limit whose controller is not enabled in the control group.
var ErrNoController = errors.New("the controller is not available in this control group")

// Cgroup is a control group (version 2) that tare has made, a child of the group of this process. A
// process enters the group when it is started: set SysProcAttr.CgroupFD to FD.
//
// Cgroup never enables a controller, because that would change the parent group, which other
// processes use. The group has the controllers that were enabled before.
type Cgroup struct {
	dir  string
	file *os.File // the opened directory; nil if it was not opened
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

// CPU returns the user and system time of all processes that have ever run in the group. It returns
// false if it cannot be read.
func (c *Cgroup) CPU() (used time.Duration, ok bool) {
	stat, err := readStat(filepath.Join(c.dir, "cpu.stat"))
	us, ok := stat["usage_usec"]
	return time.Duration(us) * time.Microsecond, err == nil && ok
}

// MemoryMax makes the kernel kill all processes of the group if they use more than limit bytes
// together. It returns ErrNoController if the memory controller is not enabled.
func (c *Cgroup) MemoryMax(limit int64) error {
	err := c.writeFile("memory.max", strconv.FormatInt(limit, 10))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return ErrNoController
	}
	if err != nil {
		return fmt.Errorf("control group: %w", pathErrorCause(err))
	}
	// These may fail. Without the first the group swaps before it reaches the limit, and without the
	// second the kernel kills one process of the group instead of all.
	_ = c.writeFile("memory.swap.max", "0")
	_ = c.writeFile("memory.oom.group", "1")
	return nil
}

// OutOfMemory reports whether the kernel has killed a process of the group because of its memory limit.
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

// Kill kills all processes in the group. Kernels before 5.14 cannot do that in one call; Kill then kills
// one process after another. It may miss a process that is forked at that time, so call it again.
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

// killFile is the control file by which the kernel kills a group, from Linux 5.14 on.
const killFile = "cgroup.kill"

// killMember kills one process of the group. It opens the process before it checks that the pid is
// still in the group, so that it never kills another process to which the pid was given meanwhile.
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
// takes a moment to notice that a group has become empty.
func (c *Cgroup) Remove() error {
	if c.file != nil {
		_ = c.file.Close()
	}
	return removeGroup(c.dir, time.Second)
}

// writeFile writes a value into a control file of the group.
func (c *Cgroup) writeFile(file, value string) error {
	f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_WRONLY, 0) // never create
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// RemoveCgroups kills and removes all children of this process's group whose names begin with prefix:
// groups that killed runs have left.
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

// CgroupName returns the name of the directory of group name: characters other than ASCII letters,
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

// pathErrorCause returns the cause of a PathError, without operation and path, or err itself.
func pathErrorCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
