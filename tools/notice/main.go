// Command notice writes NOTICE: the licences of all modules that are linked into the
// command tare on any of the systems for which it is released.
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

// targets lists the systems of .goreleaser.yaml. The modules do not depend on the processor.
var targets = []string{"linux", "darwin", "windows"}

// buildNotice returns the text of NOTICE for the command in dir.
func buildNotice(dir string) ([]byte, error) {
	var linked []string // a line per module: path, version and directory, separated by tabs
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
		fields := strings.Split(line, "\t")
		if len(fields) != 3 { // an empty line, for the standard library
			continue
		}
		path, version, dir := fields[0], fields[1], fields[2]
		if strings.HasPrefix(path+"/", "github.com/tarebench/tare/") {
			continue
		}
		if err := addLicence(&b, path+" "+version, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// addLicence adds the licence and notice files in dir, the directory of a module. It returns an error if
// there is no licence.
func addLicence(b *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the licence of %s: %w", name, err)
	}
	found := false
	for _, e := range entries {
		kind, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		isLicence := slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, kind)
		if e.IsDir() || filepath.Ext(e.Name()) == ".go" || !isLicence {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", name, err)
		}
		found = found || kind != "NOTICE"
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), strings.TrimSpace(string(text)))
	}
	if !found {
		return errors.New(name + " has no licence file; it cannot be released")
	}
	return nil
}
