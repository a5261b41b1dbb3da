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

// TestStandalone starts a server without tare, as a user does. It configures the server once by flags, and
// once by environment variables. For example, it runs SERVER -app ingest -addr 127.0.0.1:0 -log file:PATH. It
// also checks that the server rejects bad command lines.
func (s Subject) TestStandalone(a App, dir string) []error {
	var errs []error
	path := filepath.Join(dir, a.Name+"-alone.log")
	args := []string{"-app", a.Name, "-addr", "127.0.0.1:0", "-log", "file:" + path}
	env := []string{"TARE_APP=" + a.Name, "TARE_ADDR=127.0.0.1:0", "TARE_LOG=discard"}
	for i, start := range []struct{ args, env []string }{{args: args}, {env: env}} {
		if s.Variant != "" {
			start.args = append(start.args, "-variant", s.Variant)
		}
		appDir := filepath.Join(dir, fmt.Sprintf("%s-alone-%d", a.Name, i))
		if err := os.Mkdir(appDir, 0o700); err != nil {
			return append(errs, err)
		}
		for name, value := range a.standaloneSettings(appDir) {
			if isByFlags := i == 0; isByFlags {
				start.args = append(start.args, "-"+name+"="+value)
			} else {
				start.env = append(start.env, server.Setting{Name: name}.Env()+"="+value)
			}
		}
		err := s.serveAlone(a, start.args, start.env)
		checksFiles := a.CheckFiles != nil && !s.WrongOnPurpose && !s.IsStatusOnly()
		if err == nil && checksFiles {
			err = a.CheckFiles(appDir)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%v %v: %w", start.env, start.args, err))
		}
	}
	if _, err := os.Stat(path); err != nil {
		errs = append(errs, fmt.Errorf("-log file:PATH: %w", err))
	}
	for _, args := range a.badArgs() {
		if err := s.checkBadArgs(args); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", args, err))
		}
	}
	return errs
}

func (a App) standaloneSettings(dir string) map[string]string {
	if a.StandaloneSettings == nil {
		return nil
	}
	return a.StandaloneSettings(dir)
}

// badArgs returns command lines that a server must reject.
func (a App) badArgs() [][]string {
	list := [][]string{
		{"-no-such-flag"},
		{"-app", "no such app"},
		{"-app", a.Name, "-log", "loud"},
		{"-app", a.Name, "-variant", "none"},
		{"-app", a.Name, "something"},
	}
	for _, setting := range a.Settings {
		if setting.Set("no such value") != nil { // any text is invalid
			list = append(list, []string{"-app", a.Name, "-" + setting.Name + "=no such value"})
		}
	}
	return list
}

// standaloneCommand returns the contender's command. Its environment does not mention tare.
func (s Subject) standaloneCommand(ctx context.Context, args, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], args...)...)
	cmd.Env = append(append(os.Environ(), wire.EnvWire+"="), env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// serveAlone starts a server and sends it requests. It ends the server by SIGTERM while a connection is open.
func (s Subject) serveAlone(a App, args, env []string) error {
	cmd := s.standaloneCommand(context.Background(), args, env)
	output, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer output.Close()
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
	addr, err := readAddr(output, s.Limit)
	go func() { // so that the server never blocks on its output
		_, _ = io.Copy(io.Discard, output)
		ended <- cmd.Wait()
		close(ended)
	}()
	if err != nil {
		return err
	}
	sendRequests := a.SendRequests
	if sendRequests == nil {
		c, err := Dial(addr, nil, s.Limit)
		if err != nil {
			return err
		}
		defer c.Close()
		sendRequests = func(s Subject, _ string) error {
			_, err := Env{Subject: s, App: a}.sendAllOver(c)
			return err
		}
	}
	if err := sendRequests(s, addr); err != nil {
		return err
	}
	return s.terminateServer(cmd, ended)
}

// terminateServer sends SIGTERM to a server, which must exit soon with code 0. ended receives the result of
// cmd.Wait.
func (s Subject) terminateServer(cmd *exec.Cmd, ended <-chan error) error {
	if runtime.GOOS == "windows" {
		return nil // there is no SIGTERM
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

// readAddr reads output until a line ends with the server's URL, such as http://127.0.0.1:4711. It returns the
// address in the URL.
func readAddr(output *os.File, limit time.Duration) (string, error) {
	_ = output.SetReadDeadline(time.Now().Add(limit)) // fails for pipes on some systems
	var text []byte
	pattern := regexp.MustCompile(`https?://([^\s/]+)\n`)
	const maxText = 64 << 10
	buf := make([]byte, 512)
	for len(text) < maxText {
		n, err := output.Read(buf)
		text = append(text, buf[:n]...)
		if m := pattern.FindSubmatch(text); m != nil {
			_ = output.SetReadDeadline(time.Time{})
			return string(m[1]), nil
		}
		if err != nil {
			return "", fmt.Errorf("it does not print where it listens: %w; it printed: %s", err, strings.TrimSpace(string(text)))
		}
	}
	return "", errors.New("it says a lot, but not where it listens")
}

// checkBadArgs passes the server a bad command line. It must print one line and exit with code 2.
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
