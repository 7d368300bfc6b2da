import { testAccess } from '../../../access/matrix.js'
import { access as mirrors } from './mirrors.access.js'

testAccess([mirrors])
