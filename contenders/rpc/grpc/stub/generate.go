// Package stub contains the code that protoc-gen-go-grpc generates for the service
// in users.proto.
package stub

//go:generate go run -C ../../../../tools/protogen . -plugins protoc-gen-go-grpc -from ../../apps/users/proto -messages github.com/tarebench/tare/apps/users/proto -package github.com/tarebench/tare/contenders/rpc/grpc/stub ../../contenders/rpc/grpc/stub
