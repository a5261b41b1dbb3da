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
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
)

// Hosts checks the names of machines: ssh:HOST, or local for this one.
func Hosts(on []string) error {
	name := regexp.MustCompile(`^ssh:[A-Za-z0-9_][A-Za-z0-9._@-]*$`) // ports and keys are the business of ssh's configuration
	seen := map[string]bool{}
	for _, host := range on {
		switch {
		case host != "local" && !name.MatchString(host):
			return fmt.Errorf("%q is not a machine: ssh:HOST, ssh:USER@HOST or local", format.Line(host, 80))
		case seen[host]:
			return fmt.Errorf("%s is given twice", host)
		}
		seen[host] = true
	}
	return nil
}

// Fleet is what a study is carried out with on other machines.
type Fleet struct {
	Self string                  // path of this executable
	SSH  string                  // path of the ssh program
	Say  func(host, line string) // what an agent reports, one call at a time

	saying sync.Mutex
}

// Run has every host carry the order out at the same time, each with a seed of
// its own, and returns the results of those that did, in the order of hosts. The
// error of a host does not keep the others from measuring.
func (f *Fleet) Run(ctx context.Context, hosts []string, study string, o Order) (results []judge.Measured, err error) {
	measured, errs := make([]*tare.Result, len(hosts)), make([]error, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		own := o
		own.Protocol, own.Seed = Protocol, o.Seed+uint64(i)
		all.Go(func() {
			r, err := f.measure(ctx, host, study, own)
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", host, err)
			}
			measured[i] = r
		})
	}
	all.Wait()
	for i, r := range measured {
		if r != nil {
			results = append(results, judge.Measured{Name: strings.TrimPrefix(hosts[i], "ssh:"), Result: r})
		}
	}
	return results, errors.Join(errs...)
}

// measure starts the agent of a host and returns its result.
func (f *Fleet) measure(ctx context.Context, host, study string, o Order) (*tare.Result, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	command := []string{f.Self, "agent"}
	if name, remote := strings.CutPrefix(host, "ssh:"); remote {
		path, err := f.install(ctx, name)
		if err != nil {
			return nil, err
		}
		command = f.ssh(name, "exec "+path+" agent")
	}
	// The agent's stdin stays open while it measures: its end is the end of this
	// process, whatever became of it, and the agent ends then.
	in, hold := io.Pipe()
	defer hold.Close()
	go func() { _, _ = hold.Write(append(line, '\n')) }()
	out, err := f.call(ctx, host, command, in)
	if err != nil {
		return nil, err
	}
	results, err := history.Parse("the agent's result", out)
	if err != nil {
		return nil, err
	}
	return o.checkResult(study, results)
}

// ssh is a command on a host. A shared connection of the user's would outlive
// this process, so none is used.
func (f *Fleet) ssh(host, command string) []string {
	return []string{f.SSH, "-T", "-S", "none", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", host, command}
}

// install copies this executable to a host that does not have it, and returns
// where it lies there: under its content's key.
func (f *Fleet) install(ctx context.Context, host string) (path string, err error) {
	self, err := os.Open(f.Self)
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
	said, err := f.call(ctx, host, f.ssh(host, fmt.Sprintf("uname -s; uname -m; wc -c < %s 2>/dev/null || echo 0", path)), nil)
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(said))
	if len(words) != 3 {
		return "", fmt.Errorf("the host answers %q where its system was asked for", format.Line(string(said), 80))
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
	script := fmt.Sprintf("umask 077 && mkdir -p .cache/tare && cat > %[1]s.$$ && chmod 700 %[1]s.$$ && mv %[1]s.$$ %[1]s && wc -c < %[1]s", path)
	said, err = f.call(ctx, host, f.ssh(host, script), self)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(string(said)) != fmt.Sprint(size) {
		return "", fmt.Errorf("the copy of tare has %q bytes, not %d", format.Line(string(said), 40), size)
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

// call runs a command and returns its stdout, which is bounded. Its stderr goes
// to Say, the last line of it into the error.
func (f *Fleet) call(ctx context.Context, host string, command []string, in io.Reader) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	out := &bounded{most: history.MaxBytes, over: cancel}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		if in != nil {
			_, _ = io.Copy(stdin, in)
		}
		stdin.Close()
	}()
	last := ""
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if line := format.Line(lines.Text(), format.LineLimit); line != "" {
			last = line
			f.saying.Lock()
			f.Say(host, line)
			f.saying.Unlock()
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line too long to be one
	err = cmd.Wait()
	switch {
	case out.buf.Len() > out.most:
		return nil, fmt.Errorf("more than %d MiB came back", out.most>>20)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && last != "":
		return nil, fmt.Errorf("%w: %s", err, last)
	}
	return out.buf.Bytes(), err
}

// bounded takes so many bytes, and ends what writes more.
type bounded struct {
	buf  bytes.Buffer
	most int
	over func()
}

func (b *bounded) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), b.most+1-b.buf.Len())])
	if b.buf.Len() > b.most {
		b.over()
		return 0, errors.New("too much")
	}
	return len(p), nil
}
