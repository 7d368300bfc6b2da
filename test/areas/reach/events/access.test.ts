import { testAccess } from '../../../access/matrix.js'
import { access as events } from './events.access.js'

testAccess([events])
