package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/contender/server"
)

// instruction is one of a Dockerfile, with its continued lines.
type instruction struct {
	stage int // how many FROM there were
	name  string
	rest  string
}

const repository = "../../../../.."

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "deploy", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func dockerfile(t *testing.T) []instruction {
	t.Helper()
	var list []instruction
	stage := 0
	for _, line := range strings.Split(strings.ReplaceAll(deployed(t, "Dockerfile"), "\\\n", " "), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if name == "FROM" {
			stage++
		}
		list = append(list, instruction{stage, name, strings.TrimSpace(rest)})
	}
	return list
}

// TestDockerfile does without an engine what the Dockerfile says: what is copied is there, and all
// that the default stack is made of. The whole test also builds that by the Dockerfile's commands,
// and starts it by its entry point: it serves where PORT says and ends with a signal.
func TestDockerfile(t *testing.T) {
	var build, env []string
	var entry []string
	user, app := "", ""
	if _, err := exec.LookPath("sh"); err != nil || testing.Short() {
		t.Skip("runs shell commands")
	}
	src := t.TempDir()
	for _, in := range dockerfile(t) {
		words := strings.Fields(in.rest)
		switch {
		case in.name == "COPY" && !strings.HasPrefix(in.rest, "--from=build"):
			for _, pattern := range words[:len(words)-1] {
				copyTo(t, src, pattern)
			}
		case in.name == "COPY":
			if path := words[slices.IndexFunc(words, func(w string) bool { return !strings.HasPrefix(w, "--") })]; !strings.HasPrefix(path, "/src/") {
				t.Errorf("COPY --from=build %s is not below the build's directory", path)
			}
		case in.name == "RUN" && in.stage == 1:
			build = append(build, in.rest)
		case in.name == "ENV" && in.stage == 1:
			env = append(env, words...)
		case in.name == "ARG" && in.stage > 0:
			if name, value, _ := strings.Cut(in.rest, "="); name == "APP" {
				app = value
			} else {
				env = append(env, name+"="+value)
			}
		case in.name == "ENTRYPOINT":
			if err := json.Unmarshal([]byte(in.rest), &entry); err != nil {
				t.Errorf("ENTRYPOINT is not in exec form: %v", err)
			}
		case in.name == "USER":
			user = in.rest
		case in.name == "HEALTHCHECK" || in.name == "CMD":
			t.Errorf("%s %s", in.name, in.rest)
		}
	}
	if uid, _, _ := strings.Cut(user, ":"); uid == "" || uid == "0" || uid == "root" {
		t.Errorf("it runs as %q", user)
	}
	if app != apps.All()[0].Name {
		t.Errorf("it serves %q", app)
	}
	listens(t, entry)
	soak := os.Getenv("TARE_SOAK") != ""
	if !soak {
		build = []string{`go -C "contenders/server/$STACK" list -deps -tags "$TAGS" .`}
	}
	for _, command := range build {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = src, append(append(os.Environ(), env...), "PWD="+src)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("RUN %s: %v\n%s", command, err, out)
		}
	}
	if soak {
		enter(t, src, app, entry)
	}
}

// entered is an image's entry point in dir, whose programs come first.
func entered(dir string, entry []string, flags ...string) *exec.Cmd {
	cmd := exec.Command(entry[0], append(entry[1:], flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "PORT=", "TARE_ADDR=")
	return cmd
}

// listens: the entry point says where to listen, and hands flags on.
func listens(t *testing.T, entry []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "serve"), []byte("#!/bin/sh\n"+`echo "$TARE_ADDR, $# flags: $2"`), 0o755); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{
		"PORT=":                       ":8080, 2 flags: a  b",
		"PORT=90":                     ":90, 2 flags: a  b",
		"PORT=90 TARE_ADDR=[::1]:100": "[::1]:100, 2 flags: a  b",
	} {
		cmd := entered(dir, entry, "-sink", "a  b")
		cmd.Env = append(cmd.Env, strings.Fields(env)...)
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s, %v, want %s", env, out, err, want)
		}
	}
}

// enter starts what was built in src by its entry point, keeps an event file, and ends it.
func enter(t *testing.T, src, app string, entry []string) {
	t.Helper()
	port, err := anyPort()
	if err != nil {
		t.Fatal(err)
	}
	cmd := entered(filepath.Join(src, "out"), entry, "-limit", "3")
	cmd.Env = append(cmd.Env, "TARE_APP="+app, "TARE_ADDR=127.0.0.1:"+port, "TARE_SINK=file:events.ndjson")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { cmd.Process.Kill() }()
	if got := whenUp(t, "http://127.0.0.1:"+port+"/health", ended); got != "ok\n" {
		t.Errorf("health: %q", got)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "events.ndjson")); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("after a signal: %v", err)
	}
}

// copyTo copies what a pattern of the repository stands for into dir, without
// tests, as deploy/Dockerfile.dockerignore leaves them out.
func copyTo(t *testing.T, dir, pattern string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("COPY %s: there is no such thing (%v)", pattern, err)
	}
	for _, path := range found {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		rel, err := filepath.Rel(repository, path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, rel)
		if info.IsDir() {
			if err := os.CopyFS(to, os.DirFS(path)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// whenUp is the body of an answer, once there is one.
func whenUp(t *testing.T, url string, ended <-chan error) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r, err := client.Get(url)
		if err == nil {
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestImagesByDigest: what an image is made of cannot change by itself.
func TestImagesByDigest(t *testing.T) {
	digest := regexp.MustCompile(`^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}( AS \w+)?$`)
	stages := 0
	for _, in := range dockerfile(t) {
		if in.name != "FROM" {
			continue
		}
		if stages++; !digest.MatchString(in.rest) {
			t.Errorf("FROM %s has no digest", in.rest)
		}
	}
	if stages != 2 {
		t.Errorf("%d stages", stages)
	}
}

// TestSystemdUnit: what the unit sets is what a service takes, it runs as nobody
// with bounds, and where systemd is its own check finds nothing.
func TestSystemdUnit(t *testing.T) {
	text := deployed(t, "systemd/tare-ingest.service")
	known := []string{server.EnvApp, server.EnvAddr, server.EnvLog, server.EnvMaxConns, server.EnvTLSCert, server.EnvTLSKey}
	set := map[string]func(string) error{}
	for _, s := range apps.All()[0].Settings() {
		known, set[s.Env()] = append(known, s.Env()), s.Set
	}
	for _, pair := range regexp.MustCompile(`\b(TARE_[A-Z_]*[A-Z])(?:=(\S+))?`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, pair[1]) {
			t.Errorf("nobody looks at %s", pair[1])
		}
		if set[pair[1]] != nil && pair[2] != "" {
			if err := set[pair[1]](pair[2]); err != nil {
				t.Errorf("%s: %v", pair[0], err)
			}
		}
	}
	for _, line := range []string{"DynamicUser=yes", "MemoryMax=256M", "NoNewPrivileges=yes", "ProtectSystem=strict", "UMask=0077", "LimitNOFILE=16384", "Restart=on-failure"} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	path := filepath.Join(t.TempDir(), "tare-ingest.service")
	there := strings.Replace(text, "ExecStart=/usr/local/bin/tare-ingest", "ExecStart=/bin/true", 1)
	if err := os.WriteFile(path, []byte(there), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "verify", path).CombinedOutput()
	if strings.Contains(string(out), "tare-ingest.service") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDockerignore: what is copied is not ignored.
func TestDockerignore(t *testing.T) {
	kept := strings.Fields(deployed(t, "Dockerfile.dockerignore"))
	if kept[0] != "*" {
		t.Fatalf("%q: not everything else is ignored", kept[0])
	}
	for _, in := range dockerfile(t) {
		if in.name != "COPY" || strings.HasPrefix(in.rest, "--from=") {
			continue
		}
		for _, path := range strings.Fields(in.rest)[:len(strings.Fields(in.rest))-1] {
			if !slices.Contains(kept, "!"+path) {
				t.Errorf("%s is copied and ignored", path)
			}
		}
	}
}

// TestAppYAML: what app.yaml sets is what a service takes, and the address is the one it is given.
func TestAppYAML(t *testing.T) {
	text := deployed(t, "appengine/app.yaml")
	known := []string{server.EnvApp, server.EnvAddr, server.EnvLog}
	for _, set := range apps.All()[0].Settings() {
		known = append(known, set.Env())
	}
	given := regexp.MustCompile(`\bTARE_\w+`).FindAllString(text, -1)
	for _, name := range given {
		if !slices.Contains(known, name) {
			t.Errorf("nobody looks at %s", name)
		}
	}
	if !slices.Contains(given, server.EnvApp) || !strings.Contains(text, "entrypoint: env "+server.EnvAddr+"=:$PORT main\n") {
		t.Errorf("it does not say what is served where:\n%s", text)
	}
}

// TestDeployReadme: the study in it can be read, and what it names is there.
func TestDeployReadme(t *testing.T) {
	text := deployed(t, "appengine/README.md")
	_, study, ok := strings.Cut(text, "```yaml\n")
	study, _, closed := strings.Cut(study, "```")
	if !ok || !closed {
		t.Fatal("there is no study in it")
	}
	s, err := studyfile.Parse("README.md", []byte(study))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Contenders) != 2 || s.Contenders[1].URL == "" {
		t.Errorf("%+v", s.Contenders)
	}
	for _, path := range regexp.MustCompile(`deploy/[\w/.]+|contenders/\w+`).FindAllString(text, -1) {
		if _, err := os.Stat(filepath.Join(repository, path)); err != nil {
			t.Error(err)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 45 {
		t.Error(fmt.Sprint(lines, " lines"))
	}
}

// anyPort is one that nothing listens on at the moment.
func anyPort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
