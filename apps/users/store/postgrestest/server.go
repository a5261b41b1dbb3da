package postgrestest

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options configure a server. The zero value is a server for a test.
type Options struct {
	Dir  string    // created if missing; "" means a temporary one that Stop removes
	Port int       // port on 127.0.0.1; 0 means a free port
	Sync bool      // wait for the disk at each commit, as PostgreSQL does by default
	Log  io.Writer // gets the messages of the server; if nil, they appear only in errors
}

// Server is a PostgreSQL server. Its methods must not be called concurrently.
type Server struct {
	options  Options
	programs string // directory of initdb and postgres
	owner    owner
	dir      string
	password string // password of the superuser tare
	port     int    // 0 before the first start without Options.Port
	process  *process
}

// Start prepares the directory and starts a server. It returns when the server accepts connections.
func Start(ctx context.Context, o Options) (*Server, error) {
	programs, err := findPrograms(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, programs: programs, dir: o.Dir, port: o.Port}
	if s.owner, err = unprivilegedOwner(); err != nil {
		return nil, err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "tare-postgres-"); err != nil {
			return nil, err
		}
	}
	if s.dir, err = filepath.Abs(s.dir); err == nil {
		if err = s.prepareData(ctx); err == nil {
			err = s.Restart(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.removeDir())
	}
	return s, nil
}

// URL returns the URL of the database postgres, with the superuser's password.
func (s *Server) URL() string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("tare", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Done returns a channel that is closed when all processes have ended.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop ends the server, which disconnects its clients immediately. It removes the directory unless
// Options.Dir is set.
func (s *Server) Stop() error {
	err := s.process.endWith(syscall.SIGINT)
	return errors.Join(err, s.removeDir())
}

// Kill kills the server. After Restart, the server recovers the committed data.
func (s *Server) Kill() error { return s.process.endWith(syscall.SIGKILL) }

// Restart starts a server that has ended, on the same port.
func (s *Server) Restart(ctx context.Context) error {
	const maxTries = 10
	for range maxTries {
		port := s.port
		if port == 0 {
			var err error
			if port, err = freePort(); err != nil {
				return err
			}
		}
		p, err := s.startProcess(ctx, port)
		if err == nil {
			s.process, s.port = p, port
			return nil
		}
		// Another process may have bound the free port.
		portWasTaken := s.port == 0 && strings.Contains(err.Error(), "could not bind")
		if !portWasTaken || ctx.Err() != nil {
			return err
		}
	}
	return errors.New("start PostgreSQL: no port stays free")
}

func (s *Server) removeDir() error {
	if s.options.Dir != "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// prepareData creates or reads data directory and password.
func (s *Server) prepareData(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	secret := filepath.Join(s.dir, "password")
	if _, err := os.Stat(filepath.Join(s.dir, "data", "PG_VERSION")); err == nil {
		password, err := os.ReadFile(secret)
		s.password = string(password)
		return err
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	s.password = hex.EncodeToString(random[:])
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	for _, path := range []string{secret, s.dir} {
		if err := s.owner.chownFile(path); err != nil {
			return err
		}
	}
	initdb := s.newCommand(ctx, "initdb", "-D", "data", "-U", "tare", "-A", "scram-sha-256", "--pwfile=password", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLines(string(out)))
	}
	return nil
}

// newCommand returns a command that runs a program of PostgreSQL as the owner, in s.dir. The program does not
// inherit variables such as PGPORT.
func (s *Server) newCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(s.programs, name), args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + s.dir}
	c.SysProcAttr = s.owner.procAttr()
	return c
}

// startProcess starts the server and waits until it is ready.
func (s *Server) startProcess(ctx context.Context, port int) (*process, error) {
	sync := "off"
	if s.options.Sync {
		sync = "on"
	}
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=",
		"fsync=" + sync, "full_page_writes=" + sync, // committed data survives a kill even without
		"logging_collector=off", "log_destination=stderr", "lc_messages=C", "timezone=UTC",
	}
	args := []string{"-D", "data"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	// ctx limits only the start.
	c := s.newCommand(context.WithoutCancel(ctx), "postgres", args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	p := &process{command: c, done: make(chan struct{})}
	ready := make(chan struct{})
	go p.readLog(stderr, s.options.Log, ready)
	select {
	case <-ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("start PostgreSQL: it ended: %s", p.lastMessages())
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w: %s", ctx.Err(), p.lastMessages()), p.endWith(syscall.SIGKILL))
	}
}

// process is the first of a server; its children end with it.
type process struct {
	command *exec.Cmd
	done    chan struct{} // closed when all processes have ended

	mu  sync.Mutex
	log []string // the last maxLog lines of messages
}

// maxLog is the number of lines that a process stores for errors.
const maxLog = 20

// readLog reads the messages of the server, and closes ready when the server accepts connections. All processes
// of the server write to one pipe. So the pipe ends when all have ended.
func (p *process) readLog(messages io.Reader, log io.Writer, ready chan<- struct{}) {
	lines := bufio.NewReader(messages)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			p.addLine(strings.TrimRight(line, "\n"))
			if log != nil {
				_, _ = io.WriteString(log, line)
			}
		}
		if ready != nil && strings.Contains(line, "database system is ready to accept connections") {
			close(ready)
			ready = nil
		}
		if err != nil {
			break
		}
	}
	_ = p.command.Wait() // fails for a stopped server
	close(p.done)
}

func (p *process) addLine(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
	if len(p.log) > maxLog {
		p.log = p.log[1:]
	}
}

// lastMessages returns the last messages of the server in one line.
func (p *process) lastMessages() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lastLines(strings.Join(p.log, "\n"))
}

// endWith sends a signal and waits for the end of the server. After 30 s it kills the server and fails.
func (p *process) endWith(signal os.Signal) error {
	_ = p.command.Process.Signal(signal) // it may have ended already
	timeout, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-timeout.Done():
	}
	_ = p.command.Process.Kill()
	return fmt.Errorf("PostgreSQL did not end within 30 s and was killed: %s", p.lastMessages())
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// lastLines joins the last five lines of text into one line.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " / ")
}
