// A process that wakes all workers of its home, again and again, until it is killed.
import { loadConfig } from '../../src/config.js'
import { wake } from '../../src/queue/wake.js'

loadConfig({})
process.send?.('begun')
const again = () => {
  wake('default')
  setImmediate(again)
}
again()
