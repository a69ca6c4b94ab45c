package sqlpools

import "github.com/sosgo/sosgo/objects/shapes"

// An anchor is an object that leads to a pool: a pool, command or connection, a part of an attempt to open a
// connection, or the exception of a failed command.
type anchor struct {
	_ shapes.Type `of:"Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool|Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool|Microsoft.Data.ProviderBase.DbConnectionPool|System.Data.ProviderBase.DbConnectionPool|Microsoft.Data.SqlClient.SqlCommand|System.Data.SqlClient.SqlCommand|Npgsql.PoolingDataSource|Npgsql.ConnectorPool|Microsoft.Data.SqlClient.SqlConnection|System.Data.SqlClient.SqlConnection|Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool+PendingGetConnection|Microsoft.Data.ProviderBase.DbConnectionPool+PendingGetConnection|System.Data.ProviderBase.DbConnectionPool+PendingGetConnection|Microsoft.Data.SqlClient.SqlConnection+OpenAsyncRetry|System.Data.SqlClient.SqlConnection+OpenAsyncRetry|Npgsql.NpgsqlConnection|Microsoft.Data.Sqlite.SqliteConnectionPool|Microsoft.Data.Sqlite.SqliteConnectionPoolGroup|Microsoft.Data.Sqlite.SqliteConnection|Microsoft.Data.Sqlite.SqliteCommand|Microsoft.EntityFrameworkCore.Storage.RelationalConnection|Microsoft.Data.SqlClient.SqlException|System.Data.SqlClient.SqlException|Npgsql.NpgsqlException|Microsoft.Data.SqlClient.Connection.SqlConnectionInternal|Microsoft.Data.SqlClient.SqlInternalConnectionTds|System.Data.SqlClient.SqlInternalConnectionTds"`
}

// SqlClient. Its pool was renamed in 6.1 and kept its fields. SqlConnectionInternal of the newest versions was
// SqlInternalConnectionTds before.
type (
	clientPool struct {
		_       shapes.Type `of:"Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool|Microsoft.Data.ProviderBase.DbConnectionPool|System.Data.ProviderBase.DbConnectionPool"`
		State   shapes.Int  `field:"<State>|_state"`
		Objects shapes.Ref  `field:"_objectList"`
		Total   shapes.Int  `field:"_totalObjects"`
		New     shapes.Ref  `field:"_stackNew"`
		Old     shapes.Ref  `field:"_stackOld"`
		Waits   shapes.Int  `field:"_waitCount"`
		Pending shapes.Ref  `field:"_pendingOpens"`
		Blocked shapes.Int  `field:"_errorOccurred"`
		Group   shapes.Ref  `field:"_connectionPoolGroup"`
		Options shapes.Ref  `field:"_connectionPoolGroupOptions"`
	}
	// A clientChannels is the second pool of Microsoft.Data.SqlClient 7, which programs can switch to. The names come
	// from the sources of 6.1 to 7.1 and are not tested on a dump.
	clientChannels struct {
		_       shapes.Type `of:"Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool"`
		State   shapes.Int  `field:"<State>"`
		Slots   shapes.Ref  `field:"_connectionSlots"`
		Idle    shapes.Ref  `field:"_idleChannel|_idleConnectionReader"`
		Group   shapes.Ref  `field:"<PoolGroup>"`
		Options shapes.Ref  `field:"<PoolGroupOptions>"`
	}
	clientSlots struct {
		_           shapes.Type `of:"Microsoft.Data.SqlClient.ConnectionPool.ConnectionPoolSlots"`
		Connections shapes.Ref  `field:"_connections"`
		Reserved    shapes.Int  `field:"_reservations"`
	}
	clientIdle struct {
		_      shapes.Type `of:"Microsoft.Data.SqlClient.ConnectionPool.IdleConnectionChannel"`
		Reader shapes.Ref  `field:"_reader"`
	}
	clientGroup struct {
		Key shapes.Ref `field:"_poolKey"`
	}
	clientKey struct {
		String shapes.Ref `field:"_connectionString"`
	}
	clientOptions struct {
		Min shapes.Int `field:"_minPoolSize"`
		Max shapes.Int `field:"_maxPoolSize"`
		// Timeout is how long a call may wait for a connection, in milliseconds.
		Timeout shapes.Int `field:"_creationTimeout,optional"`
	}
	clientConnection struct {
		Created  shapes.Int `field:"_createTime._dateData|<CreateTime>._dateData,optional"`
		Owner    shapes.Ref `field:"_owningObject"`
		Parser   shapes.Ref `field:"_parser"`
		Database shapes.Ref `field:"<CurrentDatabase>,optional"`
	}
	clientParser struct {
		State       shapes.Ref `field:"_physicalStateObj"`
		Transaction shapes.Ref `field:"_currentTransaction"`
	}
	clientState struct {
		Parser   shapes.Ref `field:"_parser"`
		Owner    shapes.Ref `field:"_owner"`
		Deadline shapes.Int `field:"_timeoutTime,optional"`
		Breaking shapes.Int `field:"_attentionSent,optional"`
	}
	clientReader struct {
		_       shapes.Type `of:"Microsoft.Data.SqlClient.SqlDataReader|System.Data.SqlClient.SqlDataReader"`
		Command shapes.Ref  `field:"_command"`
	}
	clientCommand struct {
		_          shapes.Type  `of:"Microsoft.Data.SqlClient.SqlCommand|System.Data.SqlClient.SqlCommand"`
		Text       shapes.Ref   `field:"_commandText"`
		Type       shapes.Int   `field:"_commandType"`
		Timeout    shapes.Value `field:"_commandTimeout"`
		Parameters shapes.Ref   `field:"_parameters"`
		State      shapes.Ref   `field:"_stateObj"`
		Connection shapes.Ref   `field:"_activeConnection"`
	}
	clientParameters struct {
		Items shapes.Ref `field:"_items"`
	}
	clientParameter struct {
		Name  shapes.Ref `field:"_parameterName"`
		Value shapes.Ref `field:"_value"`
	}
)

// Npgsql. Since version 7 the data source is the pool. The pool of version 4 has other fields and is an unknown layout.
type (
	sourcePool struct {
		_          shapes.Type `of:"Npgsql.PoolingDataSource|Npgsql.ConnectorPool"`
		String     shapes.Ref  `field:"<ConnectionString>|<UserFacingConnectionString>"`
		Max        shapes.Int  `field:"<MaxConnections>|_max"`
		Min        shapes.Int  `field:"<MinConnections>|_min,optional"`
		Open       shapes.Int  `field:"_numConnectors"`
		Idle       shapes.Int  `field:"_idleCount"`
		Connectors shapes.Ref  `field:"Connectors|_connectors"`
		Channel    shapes.Ref  `field:"_idleConnectorReader,optional"`
	}
	connector struct {
		_           shapes.Type `of:"Npgsql.Internal.NpgsqlConnector|Npgsql.NpgsqlConnector"`
		State       shapes.Int  `field:"_state"`
		Process     shapes.Int  `field:"<BackendProcessId>"`
		Connection  shapes.Ref  `field:"<Connection>"`
		Command     shapes.Ref  `field:"_currentCommand,optional"`
		Reader      shapes.Ref  `field:"CurrentReader,optional"`
		Transaction shapes.Int  `field:"<TransactionStatus>,optional"`
		Opened      shapes.Int  `field:"<OpenTimestamp>._dateData,optional"`
	}
	sourceReader struct {
		Command shapes.Ref `field:"<Command>"`
	}
	sourceCommand struct {
		_          shapes.Type  `of:"Npgsql.NpgsqlCommand"`
		Text       shapes.Ref   `field:"_commandText"`
		Type       shapes.Int   `field:"<CommandType>,optional"`
		Timeout    shapes.Value `field:"_timeout"`
		Parameters shapes.Ref   `field:"_parameters"`
	}
	sourceParameters struct {
		Items shapes.Ref `field:"<InternalList>|_internalList"`
	}
	sourceParameter struct {
		Name  shapes.Ref `field:"_name"`
		Value shapes.Ref `field:"_value"`
	}
	// A channelReader is the reading end of a channel. Since .NET 10 its waiters are in a ring.
	channelReader struct {
		Parent shapes.Ref `field:"_parent"`
	}
	channel struct {
		Head    shapes.Ref `field:"_blockedReadersHead,optional"`
		Readers shapes.Ref `field:"_blockedReaders,optional"`
	}
	deque struct {
		Size shapes.Int `field:"_size"`
	}
	blockedReader struct {
		Next shapes.Ref `field:"<Next>"`
	}
)
