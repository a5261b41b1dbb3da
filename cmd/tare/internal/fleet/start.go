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

// Local is this machine, among others.
const Local = "local"

// Kinds of machines, as --on names them.
const (
	overSSH = "ssh:"
	joined  = "agent:"
)

// Machine is one that --on names.
type Machine struct {
	Name string // of its agent
	Host string // of ssh; empty: this machine, or one that joins by itself
	Join bool   // it joins by itself
}

// ReadMachines reads what --on names.
func ReadMachines(on []string) ([]Machine, error) {
	var out []Machine
	for _, text := range on {
		host, remote := strings.CutPrefix(text, overSSH)
		name, joins := strings.CutPrefix(text, joined)
		m := Machine{Name: Local}
		switch {
		case text == Local:
		case remote && isHost(host):
			m = Machine{Name: nameOf(host), Host: host}
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

// Starter starts agents on machines that do not have one.
type Starter struct {
	Self string                  // path of this executable
	SSH  string                  // path of the ssh program
	Args []string                // of tare agent, besides --stdio
	Say  func(name, line string) // what an agent reports, one call at a time

	saying sync.Mutex
}

// welcome is the first line that an agent gets on its stdin. Then NATS begins.
type welcome struct {
	Protocol string `json:"protocol"`
	Name     string `json:"name"`
	Password string `json:"password"`
	Prefix   string `json:"prefix"`
}

// Start starts the agent of a machine and connects it with the hub. It ends with
// ctx, and when stop is called, which waits for that.
func (s *Starter) Start(ctx context.Context, h *Hub, m Machine) (stop func(), err error) {
	command := append([]string{s.Self, "agent", "--stdio"}, s.Args...)
	if m.Host != "" {
		path, err := s.install(ctx, m)
		if err != nil {
			return nil, err
		}
		words := make([]string, len(s.Args))
		for i, a := range s.Args {
			words[i] = quoted(a)
		}
		command = s.ssh(m.Host, "exec "+path+" agent --stdio "+strings.Join(words, " "))
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ended(m.Name, s.tunnel(ctx, h, m.Name, command))
	}()
	return func() { cancel(); <-done }, nil
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// tunnel runs a command whose stdin and stdout are a connection of NATS. It returns
// when the command has ended.
func (s *Starter) tunnel(ctx context.Context, h *Hub, name string, command []string) error {
	cmd := build.Command(ctx, command[0], command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel, cmd.WaitDelay = stdin.Close, 10*time.Second // the agent ends what it started, and itself
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
	go h.bridge(name, stdin, stdout)
	last := s.listen(name, stderr)
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && last != "":
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// bridge is the connection of an agent whose stdin and stdout are these. The server
// hears of it when the agent is there: it gives clients little time to begin. The
// agent's stdin ends with the connection, and with this process, whatever becomes of
// it: the agent ends then.
func (h *Hub) bridge(name string, stdin io.WriteCloser, stdout io.Reader) {
	defer stdin.Close()
	line, err := json.Marshal(welcome{Protocol, name, h.right(name), h.o.Prefix})
	if err != nil {
		return
	}
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		return
	}
	from := bufio.NewReader(stdout)
	if said, err := readLine(from, 4<<10); err != nil || string(said) != Protocol {
		return // the agent says on stderr why it does not come
	}
	conn, err := h.server.InProcessConn()
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(conn, from)
		conn.Close()
	}()
	_, _ = io.Copy(stdin, conn)
	conn.Close()
}

// listen passes on what comes line by line, and returns the last.
func (s *Starter) listen(name string, from io.Reader) (last string) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if line := format.Line(lines.Text(), format.LineLimit); line != "" {
			last = line
			s.saying.Lock()
			s.Say(name, line)
			s.saying.Unlock()
		}
	}
	_, _ = io.Copy(io.Discard, from) // after a line too long to be one
	return last
}

// ssh is a command on a host. A shared connection of the user's would outlive
// this process, so none is used.
func (s *Starter) ssh(host, command string) []string {
	return []string{s.SSH, "-T", "-S", "none", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", host, command}
}

// install copies this executable to a host that does not have it, and returns
// where it lies there: under its content's key. Copies of other versions that are
// a week old are removed.
func (s *Starter) install(ctx context.Context, m Machine) (path string, err error) {
	self, err := os.Open(s.Self)
	if err != nil {
		return "", fmt.Errorf("read this executable: %w", err)
	}
	defer self.Close()
	h := sha256.New()
	size, err := io.Copy(h, self)
	if err != nil {
		return "", fmt.Errorf("read this executable: %w", err)
	}
	path = ".cache/tare/agent-" + hex.EncodeToString(h.Sum(nil))[:32]
	said, err := s.call(ctx, m, fmt.Sprintf("uname -s; uname -m; { wc -c < %s; } 2>/dev/null || echo 0", path), nil)
	if err != nil {
		return "", err
	}
	words := strings.Fields(said)
	if len(words) != 3 {
		return "", fmt.Errorf("the host answers %q where its system was asked for", format.Line(said, 80))
	}
	if is := kindOf(words[0], words[1]); is != runtime.GOOS+"/"+runtime.GOARCH {
		return "", fmt.Errorf("the host is %s, and this tare is for %s/%s", format.Line(is, 40), runtime.GOOS, runtime.GOARCH)
	}
	if words[2] == fmt.Sprint(size) {
		return path, nil
	}
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	script := fmt.Sprintf("umask 077 && mkdir -p .cache/tare && cat > %[1]s.$$ && chmod 700 %[1]s.$$ && mv %[1]s.$$ %[1]s && { find .cache/tare -maxdepth 1 -name 'agent-*' -mtime +7 -exec rm -f {} + 2>/dev/null; wc -c < %[1]s; }", path)
	if said, err = s.call(ctx, m, script, self); err != nil {
		return "", err
	}
	if strings.TrimSpace(said) != fmt.Sprint(size) {
		return "", fmt.Errorf("the copy of tare has %q bytes, not %d", format.Line(said, 40), size)
	}
	return path, nil
}

// kindOf is what uname prints in Go's words.
func kindOf(system, machine string) string {
	arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[machine]
	if arch == "" {
		arch = machine
	}
	return strings.ToLower(system) + "/" + arch
}

// call runs a command on a host and returns its stdout. Its stderr goes to Say,
// the last line of it into the error.
func (s *Starter) call(ctx context.Context, m Machine, command string, in io.Reader) (string, error) {
	args := s.ssh(m.Host, command)
	cmd := build.Command(ctx, args[0], args[1:]...)
	cmd.WaitDelay, cmd.Stdin = 5*time.Second, in
	out, said := &bounded{most: 4 << 10}, &bounded{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	last := s.listen(m.Name, &said.buf)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && last != "":
		return "", fmt.Errorf("%w: %s", err, last)
	}
	return out.buf.String(), err
}

// bounded takes so many bytes.
type bounded struct {
	buf  bytes.Buffer
	most int
}

// Write fails when there are too many.
func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.most {
		return 0, errors.New("too much came back")
	}
	return b.buf.Write(p)
}
