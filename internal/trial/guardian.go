package trial

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// EnvGuardian is the environment variable that makes a process a guardian. Its value is the run's
// tag.
const EnvGuardian = "TARE_GUARDIAN"

// guardLimit is the maximum time that a guardian waits for processes to end.
const guardLimit = 5 * time.Second

// Guardian is a second process that kills the processes of a run if tare was killed. It reads from a
// pipe: if the pipe ends without the line "done", tare has been killed.
type Guardian struct {
	mu   sync.Mutex
	pipe *os.File
	cmd  *exec.Cmd
}

// StartGuardian starts the program at path self as the guardian of all processes tagged with run. The
// program must call GuardianMain first. StartGuardian returns when the guardian is ready.
func StartGuardian(self, run string) (*Guardian, error) {
	if run == "" || strings.ContainsAny(run, "\x00\n") {
		return nil, fmt.Errorf("guardian: %q cannot be a run's tag", run)
	}
	cmd := exec.Command(self)
	cmd.Env = makeEnv(os.Environ(), []string{EnvGuardian + "=" + run}) // without EnvRun, which would tag the guardian itself
	cmd.SysProcAttr = newSessionAttr()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer theirs.Close()
	output, childOutput, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer output.Close()
	// The guardian does not get our stdout and stderr: a process that reads them to the end must not
	// wait for the guardian.
	cmd.Stdin, cmd.Stdout = theirs, childOutput
	err = cmd.Start()
	_ = childOutput.Close()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	late := time.AfterFunc(guardLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if line, _ := bufio.NewReader(io.LimitReader(output, 100)).ReadString('\n'); line != onDuty {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %s did not become one", self)
	}
	return &Guardian{pipe: ours, cmd: cmd}, nil
}

// onDuty is the line that a guardian prints when it is ready: from then on, tare may be killed.
const onDuty = "on duty\n"

// Group reports a process group to the guardian by the number of its leader, which must not have been
// reaped. If a program overwrites its environment, the guardian can only find it by its group. Group
// does nothing if g is nil.
func (g *Guardian) Group(pid int) {
	l := identifyLeader(pid)
	g.sendLine(fmt.Sprintf("group %d %d %d", pid, l.start, l.session))
}

// Gone reports to the guardian that a process group has ended.
func (g *Guardian) Gone(pid int) { g.sendLine("gone " + strconv.Itoa(pid)) }

// sendLine sends a line to the guardian. It ignores errors: the guardian may have ended.
func (g *Guardian) sendLine(line string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		_, _ = g.pipe.WriteString(line + "\n")
	}
}

// Done stops the guardian at the end of a run. It returns an error if the guardian had failed, or did
// not end within 2 s and was killed.
func (g *Guardian) Done() error {
	if g == nil {
		return nil
	}
	g.sendLine("done")
	g.mu.Lock()
	pipe := g.pipe
	g.pipe = nil
	g.mu.Unlock()
	if pipe == nil {
		return nil
	}
	_ = pipe.Close()
	late := time.AfterFunc(2*time.Second, func() { _ = g.cmd.Process.Kill() })
	defer late.Stop()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("guardian: %w", err)
	}
	return nil
}

// GuardianMain is the main function of a guardian. It returns true when the guardian has finished, and
// false immediately in any other process. A program that can be its own guardian must call it before
// anything else, and end if it returns true.
func GuardianMain() (ran bool) {
	run := os.Getenv(EnvGuardian)
	if run == "" {
		return false
	}
	// A signal to all processes of the user must not end the guardian, which cleans up after them.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_ = os.Chdir(os.TempDir()) // a directory in use cannot be unmounted or removed
	_, _ = os.Stdout.WriteString(onDuty)
	_ = os.Stdout.Close()
	if groups, done := readOrders(os.Stdin); !done {
		cleanUp(run, groups, guardLimit)
	}
	return true
}

// readOrders reads the lines of Group, Gone and Done until the end of the pipe. It returns the process
// groups that have not ended. done is true if Done was called.
func readOrders(pipe io.Reader) (groups map[int]groupLeader, done bool) {
	groups = map[int]groupLeader{}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var pid int
		var l groupLeader
		_, _ = fmt.Sscan(rest, &pid, &l.start, &l.session)
		switch word {
		case "group":
			groups[pid] = l
		case "gone":
			delete(groups, pid)
		case "done":
			return nil, true
		}
	}
	return groups, false
}

// groupLeader distinguishes the leader of a process group from a later process with the same number.
// Its fields are 0 if the kernel does not report them.
type groupLeader struct {
	start   uint64 // clock ticks after the machine's start
	session int
}

// cleanUp kills all processes tagged with run, the groups and their descendants. It searches again
// until two searches in a row find nothing, because a process may fork during a search.
func cleanUp(run string, groups map[int]groupLeader, limit time.Duration) {
	if !tagging {
		for pid := range groups {
			if pid > 1 {
				killGroup(pid)
			}
		}
		return
	}
	tags := []string{EnvRun + "=" + run}
	emptySearches := 0
	for end := time.Now().Add(limit); emptySearches < 2 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		machine.RemoveCgroups(groupPrefix(run))
		killed := killTrees(groups) // before others, because it finds descendants by their living parents
		pids := findTagged(tags)
		for _, pid := range pids {
			killTagged(pid, tags)
		}
		emptySearches++
		if killed || len(pids) > 0 {
			emptySearches = 0
		}
	}
}
