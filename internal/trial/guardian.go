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

// EnvGuardian is the environment variable that makes a process a guardian. Its value is the run's tag.
const EnvGuardian = "TARE_GUARDIAN"

// guardLimit is the maximum time that a guardian waits for processes to end.
const guardLimit = 5 * time.Second

// Guardian is a second process that kills the processes of a run if tare itself is killed.
// StartGuardian starts it, Group and Gone report process groups to it, and Done stops it.
//
// The guardian reads these reports as lines from a pipe that tare writes. The kernel closes the pipe
// when tare ends, for whatever reason: so if the pipe ends before the line "done", tare has been killed.
type Guardian struct {
	mu   sync.Mutex // guards pipe
	pipe *os.File   // write end; nil after Done
	cmd  *exec.Cmd
}

// StartGuardian starts the program at path self as the guardian of all processes tagged with run. The
// program must call GuardianMain first. StartGuardian returns when the guardian is ready.
func StartGuardian(self, run string) (*Guardian, error) {
	if run == "" || strings.ContainsAny(run, "\x00\n") {
		return nil, fmt.Errorf("guardian: %q cannot be a run's tag", run)
	}
	cmd := exec.Command(self)
	cmd.Env = makeEnv(os.Environ(), []string{EnvGuardian + "=" + run}) // without EnvRun, so that the guardian is not tagged
	cmd.SysProcAttr = newSessionAttr()
	orderReader, orderWriter, err := os.Pipe() // the guardian reads, this process writes
	if err != nil {
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer orderReader.Close()
	output, childOutput, err := os.Pipe()
	if err != nil {
		_ = orderWriter.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer output.Close()
	// The guardian does not get our stdout and stderr: a process that reads them to the end must not
	// wait for the guardian.
	cmd.Stdin, cmd.Stdout = orderReader, childOutput
	err = cmd.Start()
	_ = childOutput.Close()
	if err != nil {
		_ = orderWriter.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	killTimer := time.AfterFunc(guardLimit, func() { _ = cmd.Process.Kill() })
	defer killTimer.Stop()
	if line, _ := bufio.NewReader(io.LimitReader(output, 100)).ReadString('\n'); line != readyLine {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = orderWriter.Close()
		return nil, fmt.Errorf("guardian: %s did not become one", self)
	}
	return &Guardian{pipe: orderWriter, cmd: cmd}, nil
}

// readyLine is the line that a guardian prints when it is ready. The guardian cleans up only if tare is
// killed after that.
const readyLine = "on duty\n"

// Group reports a process group to the guardian. pid is the process id of the group's leader, which
// must not have been reaped. Group does nothing if g is nil.
func (g *Guardian) Group(pid int) {
	// The guardian finds processes by the tag in their environment. If a program overwrites its
	// environment, only the group identifies it.
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
	killTimer := time.AfterFunc(2*time.Second, func() { _ = g.cmd.Process.Kill() })
	defer killTimer.Stop()
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
	_, _ = os.Stdout.WriteString(readyLine)
	_ = os.Stdout.Close()
	if groups, done := readOrders(os.Stdin); !done {
		cleanUp(run, groups, guardLimit)
	}
	return true
}

// readOrders reads the lines that Group, Gone and Done send, e.g. "group 4711 98765 4700", until
// the end of the pipe. It returns the process groups that have not ended, by the process id of the
// leader. done is true if Done was called.
func readOrders(pipe io.Reader) (groups map[int]groupLeader, done bool) {
	groups = map[int]groupLeader{}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		order, args, _ := strings.Cut(lines.Text(), " ")
		var pid int
		var l groupLeader
		_, _ = fmt.Sscan(args, &pid, &l.start, &l.session)
		switch order {
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

// cleanUp kills all processes tagged with run, the groups and their descendants. It ends after limit, or
// when two searches in a row have found no process: one search may miss a process that another forks in
// the meantime. On systems where tags cannot be read it only kills the groups.
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
	end := time.Now().Add(limit)
	for emptySearches < 2 && time.Now().Before(end) {
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
		time.Sleep(20 * time.Millisecond)
	}
}
