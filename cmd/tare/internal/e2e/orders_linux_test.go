package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

// orderWithFiles has an agent that was not allowed to run commands carry out a study
// with files. It returns what was said.
func orderWithFiles(t *testing.T, study string, files map[string]string) string {
	t.Helper()
	h, err := fleet.Open(fleet.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	said := make(chan string, 1000)
	say := func(_, line string) { said <- line }
	s := &fleet.Starter{Self: testtare.Program(t), Say: say}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	stop, err := s.Start(ctx, h, fleet.Machine{Name: fleet.Local})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	run := &fleet.StudyRun{
		Hub: h, Dir: filepath.Join(t.TempDir(), "run"), Machines: []string{fleet.Local}, Share: 1, Say: say, Contents: map[string]fleet.Content{},
		Study: fleet.StudyOrder{Command: "run", ID: "s", Text: study, Flags: []string{"--workload=w"}, Seed: 5},
	}
	for name, text := range files {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, content, err := fleet.OpenFile(name, path)
		if err != nil {
			t.Fatal(err)
		}
		run.Study.Files, run.Contents[f.Hash] = append(run.Study.Files, f), content
	}
	_, err = run.Run(ctx)
	lines := []string{fmt.Sprint(err)}
	for len(said) > 0 {
		lines = append(lines, <-said)
	}
	return strings.Join(lines, "\n")
}

// TestOrderBringsNoContenders: files of an order are not contenders, whatever their
// names: the canary that the code among them would write is not there.
func TestOrderBringsNoContenders(t *testing.T) {
	t.Setenv("TARE_CACHE", testtare.Cache(t))
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TARE_LOCK", "test-orders")
	canary := filepath.Join(t.TempDir(), "canary")
	files := map[string]string{"go.mod": "module github.com/tarebench/tare\n\ngo 1.25\n"}
	for _, id := range []string{"encoding-json", "null"} {
		dir := "contenders/codec/" + id + "/"
		files[dir+"go.mod"] = "module example.com/canary\n\ngo 1.25\n"
		files[dir+"main.go"] = fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { _ = os.WriteFile(%q, nil, 0o600) }\n", canary)
		files[dir+"contender.json"] = fmt.Sprintf(`{"id": %q, "kind": "codec"}`, id)
	}
	var named bytes.Buffer
	for name := range files {
		fmt.Fprintf(&named, ", {id: %q, file: %q, op: marshal}", name, name)
	}
	const study = `{study: s, question: "q?", kinds: [codec], baseline: encoding-json, contenders: [encoding-json], metrics: [time], workloads: [{id: w, fixture: devices, n: 50, op: marshal}%s]}`
	for what, c := range map[string]struct{ text, want string }{
		"files that the study does not name": {fmt.Sprintf(study, ""), "which it does not name"},
		"files that it names":                {fmt.Sprintf(study, named.String()), "1 round measured"},
	} {
		said := orderWithFiles(t, c.text, files)
		if _, err := os.Stat(canary); err == nil {
			t.Fatalf("%s: the order's code was run\n%s", what, said)
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: want %q, got:\n%s", what, c.want, said)
		}
	}
}

// TestContendersOfAnotherUser: below a directory in which every user can write, what
// another one put there is not run.
func TestContendersOfAnotherUser(t *testing.T) {
	b := newBench(t)
	root, canary := t.TempDir(), filepath.Join(t.TempDir(), "canary")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module github.com/tarebench/tare\n\ngo 1.25\n")
	for _, id := range []string{"encoding-json", "null"} {
		dir := "contenders/codec/" + id + "/"
		write(dir+"go.mod", "module example.com/canary\n\ngo 1.25\n")
		write(dir+"main.go", fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { _ = os.WriteFile(%q, nil, 0o600) }\n", canary))
		write(dir+"contender.json", fmt.Sprintf(`{"id": %q, "kind": "codec"}`, id))
	}
	write("below/s.yaml", `{study: s, question: "q?", kinds: [codec], baseline: encoding-json, contenders: [encoding-json], metrics: [time], workloads: [{id: w, fixture: devices, n: 50, op: marshal}]}`)
	if err := os.Chmod(root, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(root, "contenders"), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, 12345, -1))
	})
	if err = errors.Join(err, os.Chown(filepath.Join(root, "go.mod"), 12345, -1)); err != nil {
		t.Skip(err)
	}
	run := func(variables []string, args ...string) (stderr string, code int) {
		cmd := b.command(args...)
		cmd.Dir, cmd.Env = filepath.Join(root, "below"), append(cmd.Env, variables...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run()
		return errs.String(), cmd.ProcessState.ExitCode()
	}
	no := []string{"TARE_CATALOG=", "SUDO_UID="}
	for _, args := range [][]string{{"run", "s.yaml", "--rounds", "1"}, {"list"}, {"clean"}, {"serve", "tiny"}, {"agent", "--nats", "nats://127.0.0.1:1"}} {
		stderr, code := run(no, args...)
		if code != 2 && args[0] != "clean" || strings.Count("\n"+stderr, "\ntare:") > 1 || code == 2 && !strings.Contains(stderr, "belongs to user 12345") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Fatal("another user's code was run")
	}
	if stderr, _ := run([]string{"TARE_CATALOG=" + root}, "run", "s.yaml", "--rounds", "1"); !strings.Contains(stderr, "ended during hello") {
		t.Errorf("it was named, and not run: %s", stderr)
	}
	if _, err := os.Stat(canary); err != nil {
		t.Error("it was named, and not run")
	}
}
