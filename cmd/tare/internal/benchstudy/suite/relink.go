package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/kinds/gobench"
)

// buildLinked builds with the go command and reads from its output how it called the linker. Its
// objects stay below dir.
func (s *Side) buildLinked(ctx context.Context, args []string, dir string) (*gobench.Link, error) {
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(objects, 0o755); err != nil {
		return nil, err
	}
	with := *s
	with.Env = append(slices.Clone(s.Env), build.TempEnv(objects)...)
	_, output, err := with.runGoOutput(ctx, slices.Insert(slices.Clone(args), 1, "-x", "-work"))
	if err != nil {
		return nil, err
	}
	link, err := parseLink(output)
	if err != nil {
		return nil, fmt.Errorf("%s: find out how it is linked: %w", s.ID, err)
	}
	link.Dir = dir
	return link, nil
}

// measureLink measures how long one link takes. Others take about as long for each byte: a link of
// every package would take much of a budget.
func (b *Suite) measureLink(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(b.Packages)) {
		p := b.Packages[key]
		size := sizeOf(p.Binary)
		if p.Link == nil || size == 0 {
			continue
		}
		began := time.Now()
		binary, err := p.Link.Binary(ctx, 1)
		if err != nil {
			return err
		}
		b.linkRate = float64(time.Since(began)) / float64(size)
		return os.Remove(binary)
	}
	return nil
}

// forecastLink returns about how long a link of a package takes.
func (b *Suite) forecastLink(key string) time.Duration {
	p := b.Packages[key]
	if p.Link == nil {
		return 0
	}
	return time.Duration(b.linkRate * float64(sizeOf(p.Binary)))
}

// sizeOf returns the length of a file in bytes; 0 if it does not exist.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// parseLink finds the call of the linker in what go test -c -x -work prints:
//
//	WORK=/tmp/go-build123
//	GOROOT='/usr/local/go' /usr/local/go/pkg/tool/linux_amd64/link -o $WORK/b001/a.test … $WORK/b001/_pkg_.a
func parseLink(output string) (*gobench.Link, error) {
	var work string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if dir, ok := strings.CutPrefix(line, "WORK="); ok {
			work = dir
			continue
		}
		if !strings.Contains(line, "-importcfg") {
			continue
		}
		all := splitWords(line)
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], "$WORK", work)
		}
		tool := slices.IndexFunc(all, func(w string) bool { return !strings.Contains(w, "=") })
		if tool < 0 || strings.TrimSuffix(filepath.Base(all[tool]), ".exe") != "link" {
			continue
		}
		link := &gobench.Link{Env: all[:tool:tool]}
		for i := tool; i < len(all); i++ {
			switch {
			case all[i] == "-o":
				i++
			case strings.HasPrefix(all[i], randLayout+"="):
			default:
				link.Args = append(link.Args, all[i])
			}
		}
		return link, nil
	}
	return nil, errors.New("the go command printed no call of the linker")
}

// splitWords splits a line as the go command writes it: a word, or a part of one, may be in single
// quotes as it is, or in double quotes as in Go.
func splitWords(line string) (all []string) {
	var word strings.Builder
	begun := false
	for line != "" {
		switch c := line[0]; {
		case c == ' ' || c == '\t':
			if begun {
				all = append(all, word.String())
				word.Reset()
				begun = false
			}
		case c == '\'':
			text, rest, _ := strings.Cut(line[1:], "'")
			word.WriteString(text)
			line, begun = rest, true
			continue
		case c == '"':
			if quoted, err := strconv.QuotedPrefix(line); err == nil {
				text, _ := strconv.Unquote(quoted)
				word.WriteString(text)
				line, begun = line[len(quoted):], true
				continue
			}
			word.WriteByte(c)
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
		line = line[1:]
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}
