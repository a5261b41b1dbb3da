package archtest

import (
	"os"
	"testing"
)

func TestRepository(t *testing.T) {
	tree, err := Read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) < 50 || len(tree.Modules) < 2 {
		t.Fatalf("only %d files in %d modules were read", len(tree.Files), len(tree.Modules))
	}
	for _, line := range Check(tree) {
		t.Error(line)
	}
}
