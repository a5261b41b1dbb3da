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

// Guardian is a second process that ends the processes of a run if tare was killed. It has one end
// of a pipe; when the other end closes without a word, tare is dead.
type Guardian struct {
	mu   sync.Mutex
	pipe *os.File
	cmd  *exec.Cmd
}

// StartGuardian starts the program self, which must call GuardianMain first,
// as the guardian of everything tagged with run. It returns when the guardian
// is on duty.
func StartGuardian(self, run string) (*Guardian, error) {
	if run == "" || strings.ContainsAny(run, "\x00\n") {
		return nil, fmt.Errorf("guardian: %q cannot be a run's tag", run)
	}
	cmd := exec.Command(self)
	cmd.Env = makeEnv(os.Environ(), []string{EnvGuardian + "=" + run}) // without the tag itself
	cmd.SysProcAttr = newSessionAttr()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer theirs.Close()
	answer, said, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	defer answer.Close()
	// It does not get our stdout and stderr: a process that reads those to the end must not wait
	// for a guardian.
	cmd.Stdin, cmd.Stdout = theirs, said
	err = cmd.Start()
	_ = said.Close()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %w", err)
	}
	late := time.AfterFunc(guardLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if line, _ := bufio.NewReader(io.LimitReader(answer, 100)).ReadString('\n'); line != onDuty {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = ours.Close()
		return nil, fmt.Errorf("guardian: %s did not become one", self)
	}
	return &Guardian{pipe: ours, cmd: cmd}, nil
}

// onDuty is the line of a guardian that is ready: from then on no process escapes it.
const onDuty = "on duty\n"

// Group reports a process group to the guardian by its leader, which must not have been reaped: a
// program that overwrites its environment is found by nothing else. It is a no-op on a nil
// Guardian.
func (g *Guardian) Group(pid int) {
	l := identifyLeader(pid)
	g.sendLine(fmt.Sprintf("group %d %d %d", pid, l.start, l.session))
}

// Gone reports to the guardian that nothing is left of a process group.
func (g *Guardian) Gone(pid int) { g.sendLine("gone " + strconv.Itoa(pid)) }

func (g *Guardian) sendLine(line string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		_, _ = g.pipe.WriteString(line + "\n") // a guardian that has died guards nothing
	}
}

// Done stops the guardian, as the run has ended by itself. The error reports that
// it was gone already, or did not end within 2 s and was killed.
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

// GuardianMain is the main function of a guardian. In any other process it returns false
// immediately; a program that can be its own guardian calls it before anything else, and ends if it
// returns true.
func GuardianMain() (ran bool) {
	run := os.Getenv(EnvGuardian)
	if run == "" {
		return false
	}
	// A signal that ends everything around tare must not end the one that cleans up after it.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_ = os.Chdir(os.TempDir()) // a directory in use cannot be unmounted or removed
	_, _ = os.Stdout.WriteString(onDuty)
	_ = os.Stdout.Close()
	if groups, done := readOrders(os.Stdin); !done {
		cleanUp(run, groups, guardLimit)
	}
	return true
}

// readOrders reads tare's orders until the end of the pipe. done is false if tare did not report
// that it was done.
func readOrders(from io.Reader) (groups map[int]groupLeader, done bool) {
	groups = map[int]groupLeader{}
	lines := bufio.NewScanner(from)
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

// groupLeader distinguishes the leader of a process group from a later process with the same
// number. Its fields are zero if the kernel does not report them.
type groupLeader struct {
	start   uint64 // clock ticks after the machine's start
	session int
}

// cleanUp ends everything tagged with run, the groups and their descendants, until
// two looks in a row find nothing: what forks while it is looked for is there the
// next time.
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
	nothing := 0
	for end := time.Now().Add(limit); nothing < 2 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		machine.RemoveCgroups(groupPrefix(run))
		killed := killTrees(groups) // first: a descendant is known by its living parent
		pids := findTagged(tags)
		for _, pid := range pids {
			killTagged(pid, tags)
		}
		nothing++
		if killed || len(pids) > 0 {
			nothing = 0
		}
	}
}
