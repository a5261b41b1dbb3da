// Command notice writes NOTICE: the licences of every module linked into
// tare on any of its release systems.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("dir", "cmd/tare", "module of the command")
	out := flag.String("o", "NOTICE", "file to write")
	flag.Parse()
	text, err := buildNotice(*dir)
	if err == nil {
		err = os.WriteFile(*out, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// targets lists the systems of .goreleaser.yaml; the processor changes no module.
var targets = []string{"linux", "darwin", "windows"}

// buildNotice returns the text of NOTICE for the command in dir.
func buildNotice(dir string) ([]byte, error) {
	var linked []string // path, tab, version, tab, directory
	for _, goos := range targets {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+goos, "GOARCH=amd64")
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked on %s: %w", goos, err)
		}
		linked = append(linked, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	slices.Sort(linked)
	var b bytes.Buffer
	b.WriteString("tare is licensed under the Apache License 2.0 (LICENSE). Its binaries also contain\nthe Go standard library and the modules below, each under the licence that follows\nits name. `make notice` writes this file.\n")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the Go distribution: %w", err)
	}
	if err := addLicence(&b, "The Go standard library", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, line := range slices.Compact(linked) {
		f := strings.Split(line, "\t")
		if len(f) != 3 || strings.HasPrefix(f[0]+"/", "github.com/tarebench/tare/") {
			continue
		}
		if err := addLicence(&b, f[0]+" "+f[1], f[2]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// addLicence adds the licence and notice files of a module.
func addLicence(b *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the licence of %s: %w", name, err)
	}
	found := false
	for _, e := range entries {
		kind, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if e.IsDir() || filepath.Ext(e.Name()) == ".go" || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, kind) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", name, err)
		}
		found = found || kind != "NOTICE"
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), strings.TrimSpace(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))))
	}
	if !found {
		return errors.New(name + " has no licence file; it cannot be released")
	}
	return nil
}
