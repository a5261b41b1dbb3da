// Package docs parses the pages of the documentation. It finds shell blocks, so that a test can run them. It finds
// links, so that a test can check them.
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
	File string // path relative to the root, with slashes
	Line int    // number of the line with the opening fence, from 1
	Info string // text after the fence: sh, sh slow, yaml, …
	Text string // lines between the fences
}

// String returns the position of the block, e.g. docs/start.md:12.
func (b Block) String() string { return fmt.Sprintf("%s:%d", b.File, b.Line) }

// Words that can follow sh in the Info of a block.
const (
	Slow      = "slow"      // measures or builds for longer than a few seconds
	Long      = "long"      // takes minutes: only make nightly runs it
	Shop      = "shop"      // runs in a user's module: a copy of examples/shop, with a history
	Serves    = "serves"    // each line starts a server in a separate terminal
	Hosts     = "hosts"     // needs hosts a and b with ssh, from package e2e
	CI        = "ci"        // each line is run elsewhere: in .ci or the Makefile
	Elsewhere = "elsewhere" // needs an account or Docker; only its syntax is tested
)

// Shell reports whether the block contains shell commands.
func (b Block) Shell() bool { return b.Info == "sh" || strings.HasPrefix(b.Info, "sh ") }

// Is reports whether word follows sh.
func (b Block) Is(word string) bool {
	return b.Shell() && slices.Contains(strings.Fields(b.Info)[1:], word)
}

// Runs reports whether the block is run in the test of its page.
func (b Block) Runs() bool { return b.Shell() && !b.Is(Hosts) && !b.Is(CI) && !b.Is(Elsewhere) }

// Known reports whether every word after the first of Info is a constant of this file.
func (b Block) Known() bool {
	known := []string{Slow, Long, Shop, Serves, Hosts, CI, Elsewhere}
	return !slices.ContainsFunc(strings.Fields(b.Info)[1:], func(word string) bool { return !slices.Contains(known, word) })
}

// Name returns the file name of a YAML block, or "". The name is a comment in the first line: "# study.yaml".
func (b Block) Name() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	name, isComment := strings.CutPrefix(first, "# ")
	isFileName := filepath.Ext(name) == ".yaml" && name == filepath.Base(name) && !strings.Contains(name, " ")
	if b.Info != "yaml" || !isComment || !isFileName {
		return ""
	}
	return name
}

// Commands returns the lines of the block without comments and empty lines.
func (b Block) Commands() (all []string) {
	for line := range strings.Lines(b.Text) {
		command, _, _ := strings.Cut(" "+line, " #")
		if command = strings.TrimSpace(command); command != "" {
			all = append(all, command)
		}
	}
	return all
}

// Blocks returns the blocks of the files, which are relative to root.
func Blocks(root string, files []string) ([]Block, error) {
	var all []Block
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		blocks, err := parseBlocks(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

func parseBlocks(name, text string) (all []Block, err error) {
	const fence = "```"
	var open *Block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, fence):
			open = &Block{File: name, Line: i + 1, Info: strings.TrimSpace(strings.TrimPrefix(line, fence))}
		case open == nil:
			// Skip lines outside of blocks.
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
