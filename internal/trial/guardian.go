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

// This file cleans up after a tare that was killed. For example, a user kills tare by SIGKILL: its
// guardian then kills the servers that tare has started.

// EnvGuardian is the environment variable that makes a process a guardian. Its value is the run's tag.
const EnvGuardian = "TARE_GUARDIAN"

// guardLimit limits the time that a guardian waits for processes to end.
const guardLimit = 5 * time.Second

// Guardian is a second process. If tare is killed, it kills the processes of the run.
//
// tare sends the guardian lines over a pipe: process groups that have started or ended, and at last
// "done". The kernel closes the pipe when tare ends. If the pipe ends without "done", tare was killed.
type Guardian struct {
	mu   sync.Mutex // guards pipe
	pipe *os.File   // write end; nil after Done
	cmd  *exec.Cmd
}

// StartGuardian starts the program at path self as a guardian and waits until it is ready. It guards all
// processes tagged with run. The program must call GuardianMain first.
func StartGuardian(self, run string) (*Guardian, error) {
	if run == "" || strings.ContainsAny(run, "\x00\n") {
		return nil, fmt.Errorf("guardian: %q cannot be a run's tag", run)
	}
	cmd := exec.Command(self)
	cmd.Env = makeEnv(os.Environ(), []string{EnvGuardian + "=" + run}) // no EnvRun: the guardian is not tagged
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
	// The guardian does not inherit our stdout and stderr. Otherwise a process that reads them to the
	// end would wait for the guardian.
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

// readyLine is the line that a guardian prints when it is ready.
const readyLine = "on duty\n"

// Group reports a process group to the guardian. pid is the group's leader, which must not have been
// reaped. Group does nothing if g is nil.
func (g *Guardian) Group(pid int) {
	// A program may overwrite the tag in its environment. Then only the group identifies it.
	l := identifyLeader(pid)
	g.sendLine(fmt.Sprintf("group %d %d %d", pid, l.start, l.session))
}

// Gone reports to the guardian that a process group has ended.
func (g *Guardian) Gone(pid int) { g.sendLine("gone " + strconv.Itoa(pid)) }

// sendLine ignores errors, because the guardian may have ended.
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

// Done stops the guardian at the end of a run. It kills a guardian that has not ended after 2 s, and
// returns an error if the guardian has failed or was killed. Done does nothing if g is nil.
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
// false immediately in any other process. A program must call it first, and end if it returns true.
func GuardianMain() (ran bool) {
	run := os.Getenv(EnvGuardian)
	if run == "" {
		return false
	}
	// A signal to all processes of the user must not end the guardian.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_ = os.Chdir(os.TempDir()) // a directory in use cannot be unmounted or removed
	_, _ = os.Stdout.WriteString(readyLine)
	_ = os.Stdout.Close()
	if groups, done := readOrders(os.Stdin); !done {
		cleanUp(run, groups, guardLimit)
	}
	return true
}

// readOrders reads a guardian's pipe to its end, with lines such as "group 4711 98765 4700". It
// returns the groups that have not ended, by the leader's pid. done is true after the line "done".
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

// groupLeader distinguishes the leader of a process group from a later process with the same pid. Its
// fields are 0 if unknown.
type groupLeader struct {
	start   uint64 // clock ticks after the machine's start
	session int
}

// cleanUp kills all processes tagged with run, the groups, and their descendants. A search may miss a
// process that another one is just starting. So cleanUp ends after two searches in a row without a
// process, or after limit. On systems without readable tags it only kills the groups.
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
		killed := killTrees(groups) // first, because descendants are found by living parents
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
