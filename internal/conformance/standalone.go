package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// ExamineStandalone starts a server without a lab, as a user would: once by flags and
// once by the environment.
func (s Subject) ExamineStandalone(a App, dir string) []error {
	var wrong []error
	path := filepath.Join(dir, a.Name+"-alone.log")
	args := []string{"-app", a.Name, "-addr", "127.0.0.1:0", "-log", "file:" + path}
	env := []string{"TARE_APP=" + a.Name, "TARE_ADDR=127.0.0.1:0", "TARE_LOG=discard"}
	for i, try := range []struct{ args, env []string }{{args: args}, {env: env}} {
		if s.Variant != "" {
			try.args = append(try.args, "-variant", s.Variant)
		}
		own := filepath.Join(dir, fmt.Sprintf("%s-alone-%d", a.Name, i))
		if err := os.Mkdir(own, 0o700); err != nil {
			return append(wrong, err)
		}
		if a.Set != nil {
			for name, value := range a.Set(own) {
				if i == 0 {
					try.args = append(try.args, "-"+name+"="+value)
				} else {
					try.env = append(try.env, server.Setting{Name: name}.Env()+"="+value)
				}
			}
		}
		err := s.serveAlone(a, try.args, try.env)
		if err == nil && a.Kept != nil && !s.Trap && !s.Loose() {
			err = a.Kept(own)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%v %v: %w", try.env, try.args, err))
		}
	}
	if _, err := os.Stat(path); err != nil {
		wrong = append(wrong, fmt.Errorf("-log file:PATH: %w", err))
	}
	refused := [][]string{{"-no-such-flag"}, {"-app", "no such app"}, {"-app", a.Name, "-log", "loud"}, {"-app", a.Name, "-variant", "none"}, {"-app", a.Name, "something"}}
	for _, setting := range a.Settings {
		if setting.Set("no such value") != nil {
			refused = append(refused, []string{"-app", a.Name, "-" + setting.Name + "=no such value"})
		}
	}
	for _, args := range refused {
		if err := s.checkBadArgs(args); err != nil {
			wrong = append(wrong, fmt.Errorf("%v: %w", args, err))
		}
	}
	return wrong
}

// standaloneCommand returns the command without a lab.
func (s Subject) standaloneCommand(ctx context.Context, args, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], args...)...)
	cmd.Env = append(append(os.Environ(), wire.EnvWire+"="), env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// serveAlone starts a server, reads its address, sends it requests and ends it by a signal while a
// connection is open.
func (s Subject) serveAlone(a App, args, env []string) error {
	cmd := s.standaloneCommand(context.Background(), args, env)
	said, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Start()
	_ = out.Close()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	defer func() {
		_ = cmd.Process.Kill()
		<-ended
	}()
	addr, err := readAddr(said, s.Limit)
	go func() {
		_, _ = io.Copy(io.Discard, said)
		ended <- cmd.Wait()
		close(ended)
	}()
	if err != nil {
		return err
	}
	asks := a.Asks
	if asks == nil {
		c, err := Dial(addr, nil, s.Limit)
		if err != nil {
			return err
		}
		defer c.Close()
		asks = func(s Subject, _ string) error {
			for _, g := range a.Good {
				if err := s.AskGood(c, g); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if err := asks(s, addr); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // has no such signal
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("after SIGTERM it ends with %w", err)
		}
		return nil
	case <-time.After(min(s.Limit, 6*time.Second)):
		return errors.New("after SIGTERM it is still there")
	}
}

// readAddr reads lines until one contains the server's address.
func readAddr(said *os.File, limit time.Duration) (string, error) {
	_ = said.SetReadDeadline(time.Now().Add(limit)) // if pipes support it
	var text []byte
	place := regexp.MustCompile(`https?://([^\s/]+)\n`)
	for buf := make([]byte, 512); len(text) < 64<<10; {
		n, err := said.Read(buf)
		text = append(text, buf[:n]...)
		if m := place.FindSubmatch(text); m != nil {
			_ = said.SetReadDeadline(time.Time{})
			return string(m[1]), nil
		}
		if err != nil {
			return "", fmt.Errorf("it does not say where it listens: %w; it said: %s", err, strings.TrimSpace(string(text)))
		}
	}
	return "", errors.New("it says a lot, but not where it listens")
}

// checkBadArgs checks that an invalid command line ends it with code 2 and one line.
func (s Subject) checkBadArgs(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	cmd := s.standaloneCommand(ctx, args, nil)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || strings.Count(string(out), "\n") != 1 {
		return fmt.Errorf("it should say in one line what is wrong and end with code 2: %w: %.300q", errors.Join(err), out)
	}
	return nil
}
