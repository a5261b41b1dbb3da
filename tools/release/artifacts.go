package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive, a package or an image.
type file struct {
	name string // with slashes, not absolute
	mode int64
	text []byte
}

// artifacts writes an archive of the command, a package for Debian, an image as an OCI
// layout, and the checksums of all, for this machine's system.
func (r *release) artifacts(ctx context.Context, out string) error {
	tare := filepath.Join(filepath.Dir(r.clone), "built", "tare")
	if err := r.build(ctx, tare); err != nil {
		return err
	}
	text, err := os.ReadFile(tare)
	if err != nil {
		return err
	}
	arch, err := commandOutput(ctx, r.clone, "go", "env", "GOARCH")
	if err != nil {
		return err
	}
	when, err := r.date(ctx)
	if err != nil {
		return err
	}
	files := []file{{"tare", 0o755, text}}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(r.clone, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, 0o644, text})
	}
	installed := []file{{"usr/bin/tare", 0o755, text}}
	for _, f := range files[1:3] {
		installed = append(installed, file{"usr/share/doc/tare/" + f.name, 0o644, f.text})
	}
	archive, err := packTar(files, when)
	if err != nil {
		return err
	}
	number := strings.TrimPrefix(r.version, "v")
	deb, err := packDeb(number, arch, installed, when)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	written := map[string][]byte{
		fmt.Sprintf("tare_%s_linux_%s.tar.gz", number, arch): archive,
		fmt.Sprintf("tare_%s_%s.deb", number, arch):          deb,
	}
	for name, data := range written {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := writeImage(filepath.Join(out, "image"), r.version, arch, installed, when); err != nil {
		return err
	}
	return writeSums(out)
}

// build builds the command as its tag has it, from the modules of the proxy.
func (r *release) build(ctx context.Context, path string) error {
	if _, err := commandOutput(ctx, r.clone, "git", "tag", "cmd/tare/"+r.version, r.own); err != nil { // the version that go build records
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir, cmd.Env = filepath.Join(r.clone, "cmd", "tare"), append(slices.Clone(r.env), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, out)
	}
	return nil
}

// date returns when the released commit was made. Every file of an artifact has it, so that
// the same commit makes the same bytes.
func (r *release) date(ctx context.Context) (time.Time, error) {
	text, err := commandOutput(ctx, r.clone, "git", "show", "--no-patch", "--format=%cI", r.main)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// packTar returns files as a compressed archive, owned by root. Directories come before
// what is in them.
func packTar(files []file, when time.Time) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	made := map[string]bool{}
	for _, f := range files {
		for i, r := range f.name {
			if dir := f.name[:i+1]; r == '/' && !made[dir] && dir != "./" {
				made[dir] = true
				if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: when.UTC(), Uname: "root", Gname: "root"}); err != nil {
					return nil, err
				}
			}
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: when.UTC(), Uname: "root", Gname: "root"}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// packDeb returns a package for Debian: an ar archive of three members.
func packDeb(version, arch string, files []file, when time.Time) ([]byte, error) {
	var sums strings.Builder
	var bytesInstalled int
	for _, f := range files {
		fmt.Fprintf(&sums, "%s  %s\n", md5Of(f.text), f.name)
		bytesInstalled += len(f.text)
	}
	control := fmt.Sprintf(`Package: tare
Version: %s
Architecture: %s
Maintainer: tarebench <release@tare.invalid>
Installed-Size: %d
Recommends: golang-go, git
Section: devel
Priority: optional
Homepage: https://github.com/tarebench/tare
Description: measured comparisons of Go code, with intervals and verdicts
 It runs candidates side by side in short turns, next to the baseline once more
 as a control, and claims no difference that the control shows as well.
`, version, arch, (bytesInstalled+1023)/1024)
	meta, err := packTar([]file{{"./control", 0o644, []byte(control)}, {"./md5sums", 0o644, []byte(sums.String())}}, when)
	if err != nil {
		return nil, err
	}
	dotted := make([]file, len(files))
	for i, f := range files {
		dotted[i] = file{"./" + f.name, f.mode, f.text}
	}
	data, err := packTar(dotted, when)
	if err != nil {
		return nil, err
	}
	var deb bytes.Buffer
	deb.WriteString("!<arch>\n")
	for _, member := range []file{{"debian-binary", 0o100644, []byte("2.0\n")}, {"control.tar.gz", 0o100644, meta}, {"data.tar.gz", 0o100644, data}} {
		fmt.Fprintf(&deb, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, when.Unix(), 0, 0, member.mode, len(member.text))
		deb.Write(member.text)
		if len(member.text)%2 == 1 {
			deb.WriteByte('\n')
		}
	}
	return deb.Bytes(), nil
}

// writeSums writes checksums.txt, the SHA-256 of every other file below dir.
func writeSums(dir string) error {
	var lines []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == "checksums.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		lines = append(lines, fmt.Sprintf("%x  %s", sha256.Sum256(text), filepath.ToSlash(name)))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
