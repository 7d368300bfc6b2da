import { testAccess } from '../../../access/matrix.js'
import { access as services } from './services.access.js'

testAccess([services])
