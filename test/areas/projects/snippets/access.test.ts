import { execute } from '../../../../src/db/connect/sql.js'
import { testAccess } from '../../../access/matrix.js'
import { access as snippets } from './snippets.access.js'

testAccess([snippets], async ({ id }) => {
  await execute('update projects set snippets_enabled = 1 where id = ?', [id])
})
