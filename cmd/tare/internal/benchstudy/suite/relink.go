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

// This file finds out how the go command called the linker. With that call, tare can link a test
// binary again with another order of functions.

// buildLinked builds, and reads from the output of -x how the go command called the linker. With
// this call, tare can link again with another order of functions. The objects stay below dir.
func (s *Side) buildLinked(ctx context.Context, args []string, dir string) (*gobench.Link, error) {
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(objects, 0o755); err != nil {
		return nil, err
	}
	inObjects := *s
	inObjects.Env = append(slices.Clone(s.Env), build.TempEnv(objects)...)
	_, output, err := inObjects.runGoOutput(ctx, slices.Insert(slices.Clone(args), 1, "-x", "-work"))
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

// measureLink sets b.linkRate from the time of one link. Measuring all links would take too long.
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

func (b *Suite) forecastLink(key string) time.Duration {
	p := b.Packages[key]
	if p.Link == nil {
		return 0
	}
	return time.Duration(b.linkRate * float64(sizeOf(p.Binary)))
}

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
		words := splitWords(line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "$WORK", work)
		}
		tool := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") })
		if tool < 0 || strings.TrimSuffix(filepath.Base(words[tool]), ".exe") != "link" {
			continue
		}
		link := &gobench.Link{Env: words[:tool:tool]}
		for i := tool; i < len(words); i++ {
			switch {
			case words[i] == "-o":
				i++ // skip its value, too: each link has another output
			case strings.HasPrefix(words[i], randLayout+"="):
				// Each link has another order of functions.
			default:
				link.Args = append(link.Args, words[i])
			}
		}
		return link, nil
	}
	return nil, errors.New("the go command printed no call of the linker")
}

// splitWords splits a command line of the go command into words: A='b c' link has the words "A=b c"
// and "link".
func splitWords(line string) (words []string) {
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var word string
		word, line = cutWord(line)
		words = append(words, word)
	}
	return words
}

// cutWord returns the first word of a line, and the rest. For A='b c' link these are "A=b c" and "
// link". Text in single quotes has no escapes, text in double quotes those of Go.
func cutWord(line string) (word, rest string) {
	for line != "" && line[0] != ' ' && line[0] != '\t' {
		text, after := line[:1], line[1:] // the next part of the word, and what follows
		switch line[0] {
		case '\'':
			text, after, _ = strings.Cut(line[1:], "'")
		case '"':
			if quoted, err := strconv.QuotedPrefix(line); err == nil {
				text, _ = strconv.Unquote(quoted) // QuotedPrefix has checked it
				after = line[len(quoted):]
			}
		}
		word, line = word+text, after
	}
	return word, line
}
