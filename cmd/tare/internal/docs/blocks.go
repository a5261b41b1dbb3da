// Package docs reads the pages of the documentation: their shell blocks, so that
// a test can run them as they stand, and their links, so that none leads nowhere.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Block is a fenced block of a document.
type Block struct {
	File string // below the root, with slashes
	Line int    // of the opening fence
	Info string // what follows the fence: sh, sh slow, yaml, …
	Text string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d", b.File, b.Line) }

// What can stand behind sh.
const (
	Slow      = "slow"      // it measures or builds for longer than a few seconds
	Long      = "long"      // it takes minutes, some of them a clone of a public repository: make nightly runs it
	Shop      = "shop"      // it is typed in a module of one's own: a copy of examples/shop, with a history
	Serves    = "serves"    // each line is a server, in a terminal of its own, until it is interrupted
	Hosts     = "hosts"     // it takes hosts a and b that ssh reaches; the tests of package e2e make them and run it
	CI        = "ci"        // each line stands in .ci or the Makefile, and is executed there
	Elsewhere = "elsewhere" // it takes somebody's account, or Docker; its grammar is all that is tested
)

// Shell reports whether the block is one of shell commands.
func (b Block) Shell() bool { return b.Info == "sh" || strings.HasPrefix(b.Info, "sh ") }

// Is reports whether word stands behind sh.
func (b Block) Is(word string) bool {
	return b.Shell() && slices.Contains(strings.Fields(b.Info)[1:], word)
}

// Runs reports whether the block is to be run where it stands.
func (b Block) Runs() bool { return b.Shell() && !b.Is(Hosts) && !b.Is(CI) && !b.Is(Elsewhere) }

// Known reports whether every word behind sh is one of those above.
func (b Block) Known() bool {
	for _, word := range strings.Fields(b.Info)[1:] {
		if !slices.Contains([]string{Slow, Long, Shop, Serves, Hosts, CI, Elsewhere}, word) {
			return false
		}
	}
	return true
}

// Name is that of the file a YAML block is, where its first line says it: a
// comment of nothing but the name.
func (b Block) Name() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	name, ok := strings.CutPrefix(first, "# ")
	if !ok || b.Info != "yaml" || filepath.Ext(name) != ".yaml" || name != filepath.Base(name) || strings.Contains(name, " ") {
		return ""
	}
	return name
}

// Commands are the lines of the block without their comments.
func (b Block) Commands() (all []string) {
	for line := range strings.Lines(b.Text) {
		command, _, _ := strings.Cut(" "+line, " #")
		if command = strings.TrimSpace(command); command != "" {
			all = append(all, command)
		}
	}
	return all
}

// Blocks are those of the files, which are named below root.
func Blocks(root string, files []string) ([]Block, error) {
	var all []Block
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		blocks, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

func parse(name, text string) (all []Block, err error) {
	const fence = "```"
	var open *Block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, fence):
			open = &Block{File: name, Line: i + 1, Info: strings.TrimSpace(strings.TrimPrefix(line, fence))}
		case open == nil:
		case strings.TrimSpace(line) == fence:
			all, open = append(all, *open), nil
		default:
			open.Text += line + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block has no end", open)
	}
	return all, nil
}
