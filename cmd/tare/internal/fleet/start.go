package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// The flag --on names machines, such as ssh:HOST. An agent is started on each.

// Local is the value of --on for this machine, and the name of its agent.
const Local = "local"

const (
	sshPrefix   = "ssh:"
	agentPrefix = "agent:"
)

// Machine is one value of --on: a machine whose agent runs the orders of this process.
type Machine struct {
	Name string
	Host string // "" for this machine and for agents that join
	Join bool
}

// ReadMachines parses the values of --on. No two machines have the same agent name.
func ReadMachines(on []string) ([]Machine, error) {
	var out []Machine
	for _, text := range on {
		host, remote := strings.CutPrefix(text, sshPrefix)
		name, joins := strings.CutPrefix(text, agentPrefix)
		m := Machine{Name: Local}
		switch {
		case text == Local:
		case remote && isHost(host):
			m = Machine{Name: agentName(host), Host: host}
		case joins && CheckName(name) == nil:
			m = Machine{Name: name, Join: true}
		default:
			return nil, fmt.Errorf("%q is not a machine: ssh:HOST, ssh:USER@HOST, agent:NAME or local", format.Line(text, 80))
		}
		if slices.ContainsFunc(out, func(o Machine) bool { return o.Name == m.Name }) {
			return nil, fmt.Errorf("%s is given twice", text)
		}
		out = append(out, m)
	}
	return out, nil
}

// Starter starts agents on machines whose agents do not join by themselves.
type Starter struct {
	Self string // path of this executable
	SSH  string
	Args []string                // more arguments of tare agent
	Say  func(name, line string) // receives the output of agents

	saying sync.Mutex
}

// welcome is the first line on an agent's stdin, as JSON.
type welcome struct {
	Protocol string `json:"protocol"`
	Name     string `json:"name"`
	Password string `json:"password"`
	Prefix   string `json:"prefix"`
}

// Start starts the agent of a machine, over ssh if m.Host is set. ctx or stop ends it, and stop waits.
func (s *Starter) Start(ctx context.Context, h *Hub, m Machine) (stop func(), err error) {
	command := append([]string{s.Self, "agent", "--stdio"}, s.Args...)
	if m.Host != "" {
		path, err := s.installSelf(ctx, m)
		if err != nil {
			return nil, err
		}
		words := make([]string, len(s.Args))
		for i, a := range s.Args {
			words[i] = quoteWord(a)
		}
		command = s.sshCommand(m.Host, "exec "+path+" agent --stdio "+strings.Join(words, " "))
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.markEnded(m.Name, s.runAgent(ctx, h, m.Name, command))
	}()
	return func() { cancel(); <-done }, nil
}

func quoteWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// runAgent connects command to NATS over stdin and stdout. The error has the last line of stderr.
func (s *Starter) runAgent(ctx context.Context, h *Hub, name string, command []string) error {
	cmd := build.Command(ctx, command[0], command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel, cmd.WaitDelay = stdin.Close, 10*time.Second // the agent then ends its children and itself
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go h.connectPipe(name, stdin, stdout)
	lastLine := s.relayLines(name, stderr)
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && lastLine != "":
		return fmt.Errorf("%w: %s", err, lastLine)
	}
	return err
}

// connectPipe connects an agent's stdin and stdout to the NATS server. It first waits for a line of the agent,
// because the server disconnects clients that begin late. If the connection ends, stdin closes, which ends the
// agent.
func (h *Hub) connectPipe(name string, stdin io.WriteCloser, stdout io.Reader) {
	defer stdin.Close()
	line, err := json.Marshal(welcome{Protocol: Protocol, Name: name, Password: h.issuePassword(name), Prefix: h.options.Prefix})
	if err != nil {
		return
	}
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		return
	}
	reader := bufio.NewReader(stdout)
	if reply, err := readLine(reader, maxFirstLine); err != nil || string(reply) != Protocol {
		return // the agent prints the reason on stderr
	}
	conn, err := h.server.InProcessConn()
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(conn, reader)
		conn.Close()
	}()
	_, _ = io.Copy(stdin, conn)
	conn.Close()
}

// relayLines passes the lines of an agent to s.Say and returns the last one.
func (s *Starter) relayLines(name string, reader io.Reader) (last string) {
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if line := format.Line(lines.Text(), format.LineLimit); line != "" {
			last = line
			s.saying.Lock()
			s.Say(name, line)
			s.saying.Unlock()
		}
	}
	_, _ = io.Copy(io.Discard, reader) // the rest, if a line is too long
	return last
}

// sshCommand runs command on host. -S none avoids a shared connection, which would outlive this process.
func (s *Starter) sshCommand(host, command string) []string {
	return []string{s.SSH, "-T", "-S", "none", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", host, command}
}

// installSelf copies this executable to a host, unless it is there. The path contains a hash. Copies of other
// versions are removed after a week.
func (s *Starter) installSelf(ctx context.Context, m Machine) (path string, err error) {
	self, err := os.Open(s.Self)
	if err != nil {
		return "", fmt.Errorf("read this executable: %w", err)
	}
	defer self.Close()
	digest := sha256.New()
	size, err := io.Copy(digest, self)
	if err != nil {
		return "", fmt.Errorf("read this executable: %w", err)
	}
	path = ".cache/tare/agent-" + hex.EncodeToString(digest.Sum(nil))[:32]
	output, err := s.runRemote(ctx, m, fmt.Sprintf("uname -s; uname -m; { wc -c < %s; } 2>/dev/null || echo 0", path), nil)
	if err != nil {
		return "", err
	}
	words := strings.Fields(output) // e.g. Linux x86_64 31457280
	if len(words) != 3 {
		return "", fmt.Errorf("the host answers %q where its system was asked for", format.Line(output, 80))
	}
	system, processor, copySize := words[0], words[1], words[2] // copySize is 0 if there is no copy
	if platform := platformOf(system, processor); platform != runtime.GOOS+"/"+runtime.GOARCH {
		return "", fmt.Errorf("the host is %s, and this tare is for %s/%s", format.Line(platform, 40), runtime.GOOS, runtime.GOARCH)
	}
	if copySize == fmt.Sprint(size) {
		return path, nil
	}
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	script := fmt.Sprintf("umask 077 && mkdir -p .cache/tare && cat > %[1]s.$$ && chmod 700 %[1]s.$$ && mv %[1]s.$$ %[1]s && { find .cache/tare -maxdepth 1 -name 'agent-*' -mtime +7 -exec rm -f {} + 2>/dev/null; wc -c < %[1]s; }", path)
	if output, err = s.runRemote(ctx, m, script, self); err != nil {
		return "", err
	}
	if strings.TrimSpace(output) != fmt.Sprint(size) {
		return "", fmt.Errorf("the copy of tare has %q bytes, not %d", format.Line(output, 40), size)
	}
	return path, nil
}

// platformOf returns GOOS/GOARCH from the output of uname -s and uname -m.
func platformOf(system, machine string) string {
	arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[machine]
	if arch == "" {
		arch = machine
	}
	return strings.ToLower(system) + "/" + arch
}

// runRemote runs a command on a host and returns its stdout. Lines of stderr go to Say. An error has the last
// one.
func (s *Starter) runRemote(ctx context.Context, m Machine, command string, in io.Reader) (string, error) {
	args := s.sshCommand(m.Host, command)
	cmd := build.Command(ctx, args[0], args[1:]...)
	cmd.WaitDelay, cmd.Stdin = 5*time.Second, in
	out, errOut := &limitedBuffer{maxBytes: 4 << 10}, &limitedBuffer{maxBytes: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	last := s.relayLines(m.Name, &errOut.buf)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && last != "":
		return "", fmt.Errorf("%w: %s", err, last)
	}
	return out.buf.String(), err
}

type limitedBuffer struct {
	buf      bytes.Buffer
	maxBytes int
}

// Write fails if p exceeds the limit.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.maxBytes {
		return 0, errors.New("too much came back")
	}
	return b.buf.Write(p)
}
