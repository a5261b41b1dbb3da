module github.com/tarebench/tare/contenders/rpc/all

go 1.26.0

require (
	github.com/tarebench/tare v0.0.0
	github.com/tarebench/tare/contenders/rpc/connect v0.0.0
	github.com/tarebench/tare/contenders/rpc/gateway v0.0.0
	github.com/tarebench/tare/contenders/rpc/gin v0.0.0
	github.com/tarebench/tare/contenders/rpc/grpc v0.0.0
	github.com/tarebench/tare/contenders/rpc/nethttp v0.0.0
)

require (
	connectrpc.com/connect v1.21.1 // indirect
	connectrpc.com/grpchealth v1.4.0 // indirect
	connectrpc.com/grpcreflect v1.3.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/gabriel-vasile/mimetype v1.4.12 // indirect
	github.com/gin-contrib/sse v1.1.0 // indirect
	github.com/gin-gonic/gin v1.12.0 // indirect
	github.com/go-playground/locales v0.14.1 // indirect
	github.com/go-playground/universal-translator v0.18.1 // indirect
	github.com/go-playground/validator/v10 v10.30.1 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.27.3 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/leodido/go-urn v1.4.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/pelletier/go-toml/v2 v2.2.4 // indirect
	github.com/quic-go/qpack v0.6.0 // indirect
	github.com/quic-go/quic-go v0.59.1 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/tarebench/tare/apps/users/proto v0.0.0 // indirect
	github.com/tarebench/tare/apps/users/store v0.0.0 // indirect
	github.com/ugorji/go/codec v1.3.1 // indirect
	go.mongodb.org/mongo-driver/v2 v2.5.0 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/grpc v1.85.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.61.1 // indirect
)

replace (
	github.com/tarebench/tare => ../../..
	github.com/tarebench/tare/apps/users/proto => ../../../apps/users/proto
	github.com/tarebench/tare/apps/users/store => ../../../apps/users/store
	github.com/tarebench/tare/contenders/rpc/connect => ../connect
	github.com/tarebench/tare/contenders/rpc/gateway => ../gateway
	github.com/tarebench/tare/contenders/rpc/gin => ../gin
	github.com/tarebench/tare/contenders/rpc/grpc => ../grpc
	github.com/tarebench/tare/contenders/rpc/nethttp => ../nethttp
)
