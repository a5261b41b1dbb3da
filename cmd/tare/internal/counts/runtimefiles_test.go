package counts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goRoot returns the root of the Go installation.
func goRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A release of Go whose runtime has another text is counted without the changes.
func TestRuntimeFilesOfUnknownRelease(t *testing.T) {
	dir := t.TempDir()
	if _, err := RuntimeFiles(dir); err == nil {
		t.Error("no error for a missing file")
	}
	for _, e := range runtimeEdits {
		writeFile(t, filepath.Join(dir, "src", "runtime", e.file), "package runtime\n")
	}
	if files, err := RuntimeFiles(dir); err != nil || len(files) != 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Hashes and the order of maps depend on the seed of a count alone, not on the thread, and on chance
// without a seed.
func TestRuntimeFiles(t *testing.T) {
	files, err := RuntimeFiles(goRoot(t))
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(dir, "overlay", filepath.Base(path))
		writeFile(t, replace[path], string(text))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "overlay.json"), string(overlay))
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/order\n\ngo 1.24\n")
	writeFile(t, filepath.Join(dir, "main.go"), `package main

import (
	"hash/maphash"
	"os"
	"runtime"
)

func main() {
	done := make(chan bool)
	for range len(os.Args[1:]) {
		go func() {
			runtime.LockOSThread()
			done <- true
			select {}
		}()
		<-done
	}
	go func() {
		printRandom()
		done <- true
	}()
	<-done
}

func printRandom() {
	m := map[int]int{}
	for i := range 40 {
		m[i] = i
	}
	for i := range m {
		print(i, " ")
	}
	print(maphash.String(maphash.MakeSeed(), "x"))
}
`)
	binary := filepath.Join(dir, "order")
	build := exec.Command("go", "build", "-overlay=overlay.json", "-o", binary, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(env string, threads int) string {
		cmd := exec.Command(binary, make([]string, threads)...)
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	seen := map[string]bool{}
	for seed := range 3 {
		order := run(seedEnv(seed), 0)
		for threads := range 4 {
			if again := run(seedEnv(seed), threads); again != order {
				t.Errorf("%s, two orders:\n%s\n%s", seedEnv(seed), order, again)
			}
		}
		seen[order] = true
	}
	seen[run("", 0)], seen[run("", 0)] = true, true
	if len(seen) != 5 {
		t.Errorf("three seeds and two runs without: %d orders", len(seen))
	}
}
