import { testAccess } from '../../../access/matrix.js'
import { access as audit } from './audit.access.js'

testAccess([audit])
