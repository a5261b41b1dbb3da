module github.com/tarebench/tare/apps/users/proto

go 1.25

require (
	github.com/tarebench/tare v0.0.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/tarebench/tare => ../../..
