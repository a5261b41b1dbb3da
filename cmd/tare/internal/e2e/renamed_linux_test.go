package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// servers are nginx and PostgreSQL, which write their titles over their environment,
// and whose workers lead sessions of their own or serve as another user.
type servers struct {
	dir    string
	script string // takes a port, and becomes nginx beside a PostgreSQL
}

func newServers(t *testing.T) servers {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("PostgreSQL runs as a user of its own, and control groups are mounted: needs root")
	}
	tools := map[string]string{}
	for _, name := range []string{"nginx", "postgres", "initdb", "setpriv", "unshare"} {
		path, err := exec.LookPath(name)
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); err != nil && len(found) > 0 {
			path, err = found[len(found)-1], nil
		}
		if err != nil {
			t.Skip("not installed: ", name)
		}
		tools[name] = path
	}
	s := servers{dir: t.TempDir()}
	for _, dir := range []string{s.dir, filepath.Dir(s.dir)} { // PostgreSQL's user passes through
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	s.script = filepath.Join(s.dir, "start")
	as := tools["setpriv"] + " --reuid=postgres --regid=postgres --clear-groups "
	data := filepath.Join(s.dir, "postgres", "data")
	for path, text := range map[string]string{
		"nginx.conf": "user root;\nworker_processes 2;\nevents {}\nhttp { access_log off; server { listen 127.0.0.1:PORT; location / { return 200 'ok'; } } }\n",
		"start": "#!/bin/sh\nset -e\ncd '" + s.dir + "'\nmkdir -p run-$1/logs\nsed \"s/PORT/$1/\" nginx.conf >run-$1/nginx.conf\n" +
			"cp -a postgres/data postgres/run-$1\n" +
			as + tools["postgres"] + " -D \"$PWD/postgres/run-$1\" -p $1 -c listen_addresses= -c unix_socket_directories=" + filepath.Dir(data) + " -c fsync=off >>postgres.log 2>&1 &\n" +
			"exec " + tools["nginx"] + " -p \"$PWD/run-$1\" -c \"$PWD/run-$1/nginx.conf\" -e stderr -g 'daemon off; pid nginx.pid;'\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	make := "install -d -o postgres -m 700 postgres && cd postgres && " + as + tools["initdb"] + " -N -D " + data
	cmd := exec.Command("sh", "-c", make)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no PostgreSQL can be made here: %v: %s", err, out)
	}
	return s
}

// clear removes what the servers of a run wrote.
func (s servers) clear(t *testing.T) {
	for _, pattern := range []string{"run-*", "postgres/run-*"} {
		dirs, err := filepath.Glob(filepath.Join(s.dir, pattern))
		for _, dir := range dirs {
			if err == nil {
				err = os.RemoveAll(dir)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// running are the processes whose working directory is one of the servers', by what
// they call themselves.
func (s servers) running() (names []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		cwd, err := os.Readlink(filepath.Join(d, "cwd"))
		if err != nil || cwd != s.dir && !strings.HasPrefix(cwd, s.dir+"/") {
			continue
		}
		title, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		names = append(names, filepath.Base(d)+" "+strings.TrimSpace(string(bytes.ReplaceAll(title, []byte{0}, []byte(" ")))))
	}
	return names
}

// tare is killed at any moment over servers that no longer have its mark in their
// environment, with control groups and without. Nothing stays behind.
func TestKilledOverServersThatRenameThemselves(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nginx and PostgreSQL again and again")
	}
	t.Parallel()
	b := newBench(t)
	s := newServers(t)
	kills := 5
	if os.Getenv("TARE_SOAK") != "" {
		kills = 200
	}
	// In a name space of mounts of its own, tare sees the groups that it should.
	const without = `awk '$3 == "cgroup2" {print $2}' /proc/mounts | while read -r dir; do umount -l "$dir"; done`
	for name, mounts := range map[string]string{
		"without groups": without,
		"with groups":    without + "; mkdir -p '" + s.dir + "/groups' && mount -t cgroup2 none '" + s.dir + "/groups'",
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(20260301, 2))
			served, renamed := 0, 0
			for i := range kills {
				cmd := b.command("load", "--quiet", "--duration", "5s", "--start", s.script+" $PORT", "--start", s.script+" $PORT", "/")
				cmd.Args = append([]string{"unshare", "-m", "sh", "-ec", mounts + "\nexec \"$@\"", "sh", b.bin}, cmd.Args[1:]...)
				cmd.Path, _ = exec.LookPath("unshare")
				cmd.Dir = s.dir
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// At once when the first is there, which the pilot starts, or at any time
				// once both are, which is when they are measured.
				number, later := 1+i%2, time.Duration(0)
				if number == 2 {
					later = time.Duration(rng.Float64() * float64(2*time.Second))
				}
				for range 2000 {
					there := strings.Join(s.running(), "\n")
					if strings.Contains(there, "postgres: ") && strings.Count(there, "nginx: master") >= number {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(later)
				if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil { // to look at what it is killed over
					t.Fatal(err)
				}
				there := strings.Join(s.running(), "\n")
				if strings.Contains(there, "nginx: worker") {
					served++
				}
				if strings.Contains(there, "postgres: ") {
					renamed++
				}
				if groups := strings.Contains(s.groups(), "0::/tare"); i == 0 && served > 0 && groups != (name == "with groups") {
					t.Errorf("in a group of tare: %v\n%s", groups, s.groups())
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // killed
				var left []string
				for range 100 {
					if left = s.running(); len(left) == 0 {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				if len(left) > 0 {
					t.Fatalf("kill %d: still running 10 s later: %s\n%s", i+1, strings.Join(left, ", "), errs.String())
				}
				b.nothingLeft(t, fmt.Sprintf("kill %d", i+1))
				s.clear(t)
			}
			t.Logf("%d kills, %d over nginx, %d over PostgreSQL: nothing was left", kills, served, renamed)
			if served == 0 || renamed == 0 {
				log, _ := os.ReadFile(filepath.Join(s.dir, "postgres.log"))
				t.Errorf("no kill was over servers; PostgreSQL says:\n%s", log)
			}
		})
	}
}

// groups are the control groups of the servers.
func (s servers) groups() string {
	var all strings.Builder
	for _, name := range s.running() {
		pid, _, _ := strings.Cut(name, " ")
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "cgroup"))
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "0::") {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}
