package build

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file turns messages of the go command into errors of one line.

// Messages of the go command. The comments are examples; groups are the parts that vary.
var (
	positionedLine  = lazyregexp.New(`^(.*?\.[A-Za-z]+):(\d+)(:\d+)?: (.*)$`) // a/b.go:3:1: undefined: foo
	noSpace         = lazyregexp.New(`(?i)no space left on device|not enough space on the disk`)
	noGOCACHE       = lazyregexp.New(`failed to initialize build cache at (.*)`) // … at /cache: permission denied
	progress        = lazyregexp.New(`^go: (downloading|finding|added|upgraded|downgraded|removed|found) `)
	needsGo         = lazyregexp.New(`requires go >= ([0-9][0-9a-z.]*) \(running go ([0-9][0-9a-z.]*)`) // … >= 1.26 (running go 1.25.5; …
	noDownload      = lazyregexp.New(`(?m)^go: download (go[0-9][0-9a-z.]*)[^:\n]*: (.*)$`)             // go: download go1.27.9 for linux/amd64: toolchain not available
	positionPattern = lazyregexp.New(`^[^ ]*\.(go|mod):[0-9]+(:[0-9]+)?: `)                             // go.mod:5:2: …
	requestedURL    = lazyregexp.New(`(reading|Get|Head) "?[a-z]+://[^ ]*: `)                           // reading https://proxy.golang.org/…: …
	serverResponse  = lazyregexp.New(`(?m)^\s*server response: (.*)$`)                                  // server response: not found
)

// messageLimit limits a message in an error, in bytes.
const messageLimit = 240

// machineError returns an error if out, the output of a go command, is about the machine and not
// the contender: a full disk, an old or a missing toolchain. Otherwise it returns nil.
func machineError(out string, leaf Leaf) error {
	if m := noGOCACHE.FindStringSubmatch(out); m != nil {
		return fmt.Errorf("%w of the go command at %s", ErrCache, strings.TrimSpace(m[1]))
	}
	if m := noSpace.FindString(out); m != "" {
		return fmt.Errorf("%w: %s", ErrCache, m)
	}
	if m := noDownload.FindStringSubmatch(out); m != nil {
		return fmt.Errorf("toolchain %s is not on this machine and cannot be downloaded: %s", m[1], withoutAddress(m[2], out))
	}
	if m := needsGo.FindStringSubmatch(out); m != nil {
		if leaf.Go != "" {
			return fmt.Errorf("%s needs go %s, asked was %s", leaf.Manifest.ID, m[1], leaf.Go)
		}
		return fmt.Errorf("%s needs go %s, this is go%s", leaf.Manifest.ID, m[1], m[2])
	}
	return nil
}

// pinError is about a go command that changed versions. It is one line.
func pinError(out string, err error, leaf Leaf) error {
	if known := machineError(out, leaf); known != nil {
		return known
	}
	return fmt.Errorf("%s cannot be built with that: %s", leaf.Manifest.ID, shortenMessage(out, err))
}

// shortenMessage returns the first message in out without "go: ", positions and addresses.
func shortenMessage(out string, err error) string {
	line := strings.TrimPrefix(firstLine(out, err), "go: ")
	return withoutAddress(positionPattern.ReplaceAllString(line, ""), out)
}

// withoutAddress returns message with the response of the server, from another line of out, instead
// of the requested address. The result has at most messageLimit bytes and "…".
func withoutAddress(message, out string) string {
	message = requestedURL.ReplaceAllString(message, "")
	if m := serverResponse.FindStringSubmatch(out); m != nil {
		message += ": " + strings.TrimSuffix(m[1], ".")
	}
	if len(message) <= messageLimit {
		return message
	}
	cut := messageLimit
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "…"
}

// compileError returns the error of a go build in one line: the first line of out with a position,
// else the first message. Paths become relative to one of bases.
func compileError(out string, err error, leaf Leaf, bases ...string) error {
	if known := machineError(out, leaf); known != nil {
		return known
	}
	dir := leaf.Src()
	for line := range strings.Lines(out) {
		if m := positionedLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !strings.HasPrefix(line, "go: ") {
			return errors.New(relativeToBase(m[1], dir, bases) + ":" + m[2] + m[3] + ": " + m[4])
		}
	}
	return fmt.Errorf("%s: %s", relativeToBase(".", dir, bases), firstLine(out, err))
}

// messageBases returns the directories to which paths in messages become relative.
func (t toolchain) messageBases(m leafModule) []string {
	bases := []string{m.root}
	if sdk := m.sdkDir(); sdk != "" {
		if rel, err := filepath.Rel(sdk, m.root); err == nil && filepath.IsLocal(rel) {
			bases = nil
		}
		bases = append(bases, sdk)
	}
	if cache := t.env["GOMODCACHE"]; cache != "" {
		bases = append(bases, cache)
	}
	return bases
}

// relativeToBase returns the path of file relative to the first base that contains it. file may be
// relative to dir.
func relativeToBase(file, dir string, bases []string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	for _, base := range bases {
		if rel, err := filepath.Rel(base, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// firstLine returns the first message in out, or else the text of err. It skips headings such as "#
// package", progress, and package names of go build -v.
func firstLine(out string, err error) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		isPackage := !strings.Contains(line, " ")
		isHeading := strings.HasPrefix(line, "#") || strings.HasSuffix(line, ":")
		if !isPackage && !isHeading && !progress.MatchString(line) {
			return line
		}
	}
	if err != nil {
		return err.Error()
	}
	return "no message"
}
