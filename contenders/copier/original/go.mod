module github.com/tarebench/tare/contenders/copier/original

go 1.25

require (
	github.com/shaban/cgocopy v0.0.0
	github.com/tarebench/tare v0.0.0
)

// The published library is weighed from a clone: tare run ffi --with-original.
// What stands in for it has the same interface, so that this compiles.
replace (
	github.com/shaban/cgocopy => ./standin
	github.com/tarebench/tare => ../../..
)
