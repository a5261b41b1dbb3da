// Package docs reads the shell blocks of the documentation, so that a test can
// run them as they stand.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
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

// Shell reports whether the block is to be run, and whether that takes long.
func (b Block) Shell() (run, slow bool) {
	return b.Info == "sh" || b.Info == "sh slow", b.Info == "sh slow"
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
