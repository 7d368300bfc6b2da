// The file by which commands find their server.
import { loadConfig } from '../../src/config.js'
import { noteAddress } from '../../src/server/instance.js'
import t from '../helpers/tap.js'

t.test('a full disk does not keep a server from starting', async t => {
  loadConfig({ home: t.testdir({ run: { 'server.json': t.fixture('symlink', '/dev/full') } }) })
  t.doesNotThrow(() => noteAddress(1))
})
