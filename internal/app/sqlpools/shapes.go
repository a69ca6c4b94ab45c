package sqlpools

import "github.com/sosgo/sosgo/objects"

// An anchor is an object that leads to a pool: a pool, command or connection, a part of an attempt to open a
// connection, or the exception of a failed command.
type anchor struct {
	_ objects.Shape `of:"Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool|Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool|Microsoft.Data.ProviderBase.DbConnectionPool|System.Data.ProviderBase.DbConnectionPool|Microsoft.Data.SqlClient.SqlCommand|System.Data.SqlClient.SqlCommand|Npgsql.PoolingDataSource|Npgsql.ConnectorPool|Microsoft.Data.SqlClient.SqlConnection|System.Data.SqlClient.SqlConnection|Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool+PendingGetConnection|Microsoft.Data.ProviderBase.DbConnectionPool+PendingGetConnection|System.Data.ProviderBase.DbConnectionPool+PendingGetConnection|Microsoft.Data.SqlClient.SqlConnection+OpenAsyncRetry|System.Data.SqlClient.SqlConnection+OpenAsyncRetry|Npgsql.NpgsqlConnection|Microsoft.Data.Sqlite.SqliteConnectionPool|Microsoft.Data.Sqlite.SqliteConnectionPoolGroup|Microsoft.Data.Sqlite.SqliteConnection|Microsoft.Data.Sqlite.SqliteCommand|Microsoft.EntityFrameworkCore.Storage.RelationalConnection|Microsoft.Data.SqlClient.SqlException|System.Data.SqlClient.SqlException|Npgsql.NpgsqlException|Microsoft.Data.SqlClient.Connection.SqlConnectionInternal|Microsoft.Data.SqlClient.SqlInternalConnectionTds|System.Data.SqlClient.SqlInternalConnectionTds"`
}

// SqlClient. Its pool was renamed in 6.1 and kept its fields. SqlConnectionInternal of the newest versions was
// SqlInternalConnectionTds before.
type (
	clientPool struct {
		_       objects.Shape    `of:"Microsoft.Data.SqlClient.ConnectionPool.WaitHandleDbConnectionPool|Microsoft.Data.ProviderBase.DbConnectionPool|System.Data.ProviderBase.DbConnectionPool"`
		State   objects.IntField `field:"<State>|_state"`
		Objects objects.RefField `field:"_objectList"`
		Total   objects.IntField `field:"_totalObjects"`
		New     objects.RefField `field:"_stackNew"`
		Old     objects.RefField `field:"_stackOld"`
		Waits   objects.IntField `field:"_waitCount"`
		Pending objects.RefField `field:"_pendingOpens"`
		Blocked objects.IntField `field:"_errorOccurred"`
		Group   objects.RefField `field:"_connectionPoolGroup"`
		Options objects.RefField `field:"_connectionPoolGroupOptions"`
	}
	// A clientChannels is the second pool of Microsoft.Data.SqlClient 7, which programs can switch to. The names come
	// from the sources of 6.1 to 7.1 and are not tested on a dump.
	clientChannels struct {
		_       objects.Shape    `of:"Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool"`
		State   objects.IntField `field:"<State>"`
		Slots   objects.RefField `field:"_connectionSlots"`
		Idle    objects.RefField `field:"_idleChannel|_idleConnectionReader"`
		Group   objects.RefField `field:"<PoolGroup>"`
		Options objects.RefField `field:"<PoolGroupOptions>"`
	}
	clientSlots struct {
		_           objects.Shape    `of:"Microsoft.Data.SqlClient.ConnectionPool.ConnectionPoolSlots"`
		Connections objects.RefField `field:"_connections"`
		Reserved    objects.IntField `field:"_reservations"`
	}
	clientIdle struct {
		_      objects.Shape    `of:"Microsoft.Data.SqlClient.ConnectionPool.IdleConnectionChannel"`
		Reader objects.RefField `field:"_reader"`
	}
	clientGroup struct {
		Key objects.RefField `field:"_poolKey"`
	}
	clientKey struct {
		String objects.RefField `field:"_connectionString"`
	}
	clientOptions struct {
		Min objects.IntField `field:"_minPoolSize"`
		Max objects.IntField `field:"_maxPoolSize"`
		// Timeout is how long a call may wait for a connection, in milliseconds.
		Timeout objects.IntField `field:"_creationTimeout,optional"`
	}
	clientConnection struct {
		Created  objects.IntField `field:"_createTime._dateData|<CreateTime>._dateData,optional"`
		Owner    objects.RefField `field:"_owningObject"`
		Parser   objects.RefField `field:"_parser"`
		Database objects.RefField `field:"<CurrentDatabase>,optional"`
	}
	clientParser struct {
		State       objects.RefField `field:"_physicalStateObj"`
		Transaction objects.RefField `field:"_currentTransaction"`
	}
	clientState struct {
		Parser   objects.RefField `field:"_parser"`
		Owner    objects.RefField `field:"_owner"`
		Deadline objects.IntField `field:"_timeoutTime,optional"`
		Breaking objects.IntField `field:"_attentionSent,optional"`
	}
	clientReader struct {
		_       objects.Shape    `of:"Microsoft.Data.SqlClient.SqlDataReader|System.Data.SqlClient.SqlDataReader"`
		Command objects.RefField `field:"_command"`
	}
	clientCommand struct {
		_          objects.Shape      `of:"Microsoft.Data.SqlClient.SqlCommand|System.Data.SqlClient.SqlCommand"`
		Text       objects.RefField   `field:"_commandText"`
		Type       objects.IntField   `field:"_commandType"`
		Timeout    objects.ValueField `field:"_commandTimeout"`
		Parameters objects.RefField   `field:"_parameters"`
		State      objects.RefField   `field:"_stateObj"`
		Connection objects.RefField   `field:"_activeConnection"`
	}
	clientParameters struct {
		Items objects.RefField `field:"_items"`
	}
	clientParameter struct {
		Name  objects.RefField `field:"_parameterName"`
		Value objects.RefField `field:"_value"`
	}
)

// Npgsql. Since version 7 the data source is the pool. The pool of version 4 has other fields and is an unknown layout.
type (
	sourcePool struct {
		_          objects.Shape    `of:"Npgsql.PoolingDataSource|Npgsql.ConnectorPool"`
		String     objects.RefField `field:"<ConnectionString>|<UserFacingConnectionString>"`
		Max        objects.IntField `field:"<MaxConnections>|_max"`
		Min        objects.IntField `field:"<MinConnections>|_min,optional"`
		Open       objects.IntField `field:"_numConnectors"`
		Idle       objects.IntField `field:"_idleCount"`
		Connectors objects.RefField `field:"Connectors|_connectors"`
		Channel    objects.RefField `field:"_idleConnectorReader,optional"`
	}
	connector struct {
		_           objects.Shape    `of:"Npgsql.Internal.NpgsqlConnector|Npgsql.NpgsqlConnector"`
		State       objects.IntField `field:"_state"`
		Process     objects.IntField `field:"<BackendProcessId>"`
		Connection  objects.RefField `field:"<Connection>"`
		Command     objects.RefField `field:"_currentCommand,optional"`
		Reader      objects.RefField `field:"CurrentReader,optional"`
		Transaction objects.IntField `field:"<TransactionStatus>,optional"`
		Opened      objects.IntField `field:"<OpenTimestamp>._dateData,optional"`
		Reads       objects.RefField `field:"<ReadBuffer>,optional"`
	}
	// A readBuffer reads what the server sends. Its source limits an asynchronous wait for that.
	readBuffer struct {
		Source objects.RefField `field:"<Cts>,optional"`
	}
	resettable struct {
		Source objects.RefField `field:"_cts,optional"`
	}
	sourceReader struct {
		Command objects.RefField `field:"<Command>"`
	}
	sourceCommand struct {
		_          objects.Shape      `of:"Npgsql.NpgsqlCommand"`
		Text       objects.RefField   `field:"_commandText"`
		Type       objects.IntField   `field:"<CommandType>,optional"`
		Timeout    objects.ValueField `field:"_timeout"`
		Parameters objects.RefField   `field:"_parameters"`
	}
	sourceParameters struct {
		Items objects.RefField `field:"<InternalList>|_internalList"`
	}
	sourceParameter struct {
		Name  objects.RefField `field:"_name"`
		Value objects.RefField `field:"_value"`
	}
	// A channelReader is the reading end of a channel. Since .NET 10 its waiters are in a ring.
	channelReader struct {
		Parent objects.RefField `field:"_parent"`
	}
	channel struct {
		Head    objects.RefField `field:"_blockedReadersHead,optional"`
		Readers objects.RefField `field:"_blockedReaders,optional"`
	}
	deque struct {
		Size objects.IntField `field:"_size"`
	}
	blockedReader struct {
		Next objects.RefField `field:"<Next>"`
	}
)
