module github.com/shaban/cgocopy

go 1.25
