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

type file struct {
	name string // relative slash path
	mode int64  // permissions
	text []byte
}

// writeArtifacts writes an archive, a Debian package, an OCI image and checksums into out, for this machine's
// system.
func (r *release) writeArtifacts(ctx context.Context, out string) error {
	path := filepath.Join(filepath.Dir(r.clone), "built", "tare")
	if err := r.buildCommand(ctx, path); err != nil {
		return err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	arch, err := commandOutput(ctx, r.clone, "go", "env", "GOARCH")
	if err != nil {
		return err
	}
	when, err := r.commitTime(ctx)
	if err != nil {
		return err
	}
	files := []file{{name: "tare", mode: 0o755, text: binary}}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(r.clone, name))
		if err != nil {
			return err
		}
		files = append(files, file{name: name, mode: 0o644, text: text})
	}
	installed := []file{{name: "usr/bin/tare", mode: 0o755, text: binary}}
	for _, f := range files[1:3] { // LICENSE and NOTICE
		installed = append(installed, file{name: "usr/share/doc/tare/" + f.name, mode: 0o644, text: f.text})
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

// buildCommand builds the command at its tag, with modules from the proxy.
func (r *release) buildCommand(ctx context.Context, path string) error {
	if _, err := commandOutput(ctx, r.clone, "git", "tag", "cmd/tare/"+r.version, r.cmdCommit); err != nil { // the recorded version
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir, cmd.Env = filepath.Join(r.clone, "cmd", "tare"), append(slices.Clone(r.env), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, out)
	}
	return nil
}

// commitTime returns the time of the released commit. All files get this time, so that equal commits make equal
// bytes.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	text, err := commandOutput(ctx, r.clone, "git", "show", "--no-patch", "--format=%cI", r.mainCommit)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// packTar returns files as a compressed tar archive, owned by root. It adds their directories.
func packTar(files []file, when time.Time) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	added := map[string]bool{} // directories
	for _, f := range files {
		for i, c := range f.name { // each slash ends a directory
			if dir := f.name[:i+1]; c == '/' && !added[dir] && dir != "./" {
				added[dir] = true
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

// packDeb returns a Debian package (deb(5)), an ar archive of three members. They are the format version, an
// archive with description and checksums, and an archive with the files.
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
	meta, err := packTar([]file{
		{name: "./control", mode: 0o644, text: []byte(control)},
		{name: "./md5sums", mode: 0o644, text: []byte(sums.String())},
	}, when)
	if err != nil {
		return nil, err
	}
	dotted := make([]file, len(files))
	for i, f := range files {
		dotted[i] = file{name: "./" + f.name, mode: f.mode, text: f.text}
	}
	data, err := packTar(dotted, when)
	if err != nil {
		return nil, err
	}
	var deb bytes.Buffer
	deb.WriteString("!<arch>\n")
	for _, member := range []file{
		{name: "debian-binary", mode: 0o100644, text: []byte("2.0\n")},
		{name: "control.tar.gz", mode: 0o100644, text: meta},
		{name: "data.tar.gz", mode: 0o100644, text: data},
	} {
		// A member's header has name, time, owner, group, mode and size.
		fmt.Fprintf(&deb, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, when.Unix(), 0, 0, member.mode, len(member.text))
		deb.Write(member.text)
		if len(member.text)%2 == 1 { // members begin at even offsets
			deb.WriteByte('\n')
		}
	}
	return deb.Bytes(), nil
}

// writeSums writes checksums.txt into dir, with the SHA-256 of every other file below dir.
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
