// Package stub contains the code that protoc-gen-go-grpc and protoc-gen-grpc-gateway
// generate for the service in users.proto.
package stub

//go:generate go run -C ../../../../tools/protogen . -plugins protoc-gen-go-grpc,protoc-gen-grpc-gateway -from ../../apps/users/proto -messages github.com/tarebench/tare/apps/users/proto -package github.com/tarebench/tare/contenders/rpc/gateway/stub ../../contenders/rpc/gateway/stub
