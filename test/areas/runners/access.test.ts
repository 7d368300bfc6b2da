import { testAccess } from '../../access/matrix.js'
import { access as protocol } from './runner-protocol.access.js'

testAccess([protocol])
